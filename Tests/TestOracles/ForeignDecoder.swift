internal import CTestOracles

/// What a decoder made of a stream.
public struct DecodedVideo: Sendable {
    /// In output order.
    public var frames: [PlanarFrame]
    /// What the decoder had to say at warning level or above; empty for a stream without fault.
    public var messages: [String]
}

/// A decoder that this project did not write, run in this process.
public enum ForeignDecoder: String, Sendable, CaseIterable {
    /// FFmpeg's own H.264 decoder, as `ffmpeg -xerror -err_detect crccheck+explode`.
    case libavcodec
    /// Cisco's, without concealment.
    case openh264

    /// Decodes an H.264 Annex B stream. Blocks.
    public func decode(_ stream: [UInt8]) -> DecodedVideo {
        // SAFETY: the C side reads `count` bytes during the call; its result owns its memory until it is freed.
        var result = unsafe stream.withUnsafeBufferPointer { bytes in
            switch self {
            case .libavcodec: unsafe vaenc_oracle_libavcodec("h264", bytes.baseAddress, bytes.count)
            case .openh264: unsafe vaenc_oracle_openh264(bytes.baseAddress, bytes.count)
            }
        }
        defer { unsafe vaenc_oracle_free(&result) }
        return unsafe DecodedVideo(result)
    }
}

extension DecodedVideo {
    /// Copies what the result holds.
    fileprivate init(_ result: vaenc_oracle_result) {
        // SAFETY: every frame's planes lie inside `bytes`, and `messages` ends in a zero (result.c).
        var frames: [PlanarFrame] = []
        for index in 0..<(unsafe Int(result.frame_count)) {
            let frame = unsafe result.frames![index]
            let count = PlanarFrame.byteCount(width: Int(frame.width), height: Int(frame.height))
            let bytes = unsafe Array(UnsafeBufferPointer(start: result.bytes! + frame.offset, count: count))
            frames.append(PlanarFrame(width: Int(frame.width), height: Int(frame.height), bytes: bytes)!)
        }
        self.frames = frames
        messages =
            unsafe result.messages.map { unsafe String(cString: $0).split(separator: "\n").map(String.init) } ?? []
    }
}

/// Streams that libx264 makes, to try decoders and readers on.
public enum ForeignEncoder {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Encodes frames of one size; `options` are x264's (`qp=26:keyint=10:slices=2`).
    public static func x264(_ frames: [PlanarFrame], options: String) throws -> [UInt8] {
        guard let first = frames.first else { return [] }
        let input = frames.flatMap(\.bytes)
        // SAFETY: the C side reads `frames.count` whole frames of that size; its result is copied, then freed.
        var result = unsafe input.withUnsafeBufferPointer {
            unsafe vaenc_oracle_x264(
                $0.baseAddress!, Int32(first.width), Int32(first.height), Int32(frames.count), options)
        }
        defer { unsafe vaenc_oracle_free(&result) }
        if let messages = unsafe result.messages { throw Failure(description: unsafe String(cString: messages)) }
        return unsafe Array(UnsafeBufferPointer(start: result.bytes, count: result.size))
    }
}
