internal import CTestOracles

/// What a decoder made of a stream.
public struct DecodedVideo: Sendable {
    /// In output order.
    public var frames: [PlanarFrame]
    /// What the decoder had to say at warning level or above; empty for a stream without fault.
    public var messages: [String]
}

/// A decoder that this project did not write, run in this process.
public enum ForeignDecoder: String, Sendable {
    /// FFmpeg's own decoders, as `ffmpeg -xerror -err_detect crccheck+explode`. MD5 hashes of HEVC pictures are checked.
    case libavcodec
    /// Cisco's, without concealment: H.264 alone.
    case openh264
    /// HEVC alone.
    case libde265

    /// The decoders of a codec.
    public static func all(for codec: StreamCodec) -> [ForeignDecoder] {
        switch codec {
        case .h264: [.libavcodec, .openh264]
        case .hevc: [.libavcodec, .libde265]
        }
    }

    /// Decodes an Annex B stream. Blocks.
    ///
    /// - Parameter isWhole: frames of the coded size, with what the conformance window hides; not by openh264.
    public func decode(_ stream: [UInt8], codec: StreamCodec = .h264, isWhole: Bool = false) -> DecodedVideo {
        // SAFETY: the C side reads `count` bytes during the call; its result owns its memory until it is freed.
        var result = unsafe stream.withUnsafeBufferPointer { bytes in
            switch self {
            case .libavcodec:
                unsafe vaenc_oracle_libavcodec(codec.format, bytes.baseAddress, bytes.count, isWhole ? 1 : 0)
            case .openh264: unsafe vaenc_oracle_openh264(bytes.baseAddress, bytes.count)
            case .libde265: unsafe vaenc_oracle_libde265(bytes.baseAddress, bytes.count, isWhole ? 1 : 0)
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
            let (width, height, depth) = (Int(frame.width), Int(frame.height), Int(frame.bit_depth))
            let count = PlanarFrame.byteCount(width: width, height: height, bitDepth: depth)
            let bytes = unsafe Array(UnsafeBufferPointer(start: result.bytes! + frame.offset, count: count))
            frames.append(PlanarFrame(width: width, height: height, bitDepth: depth, bytes: bytes)!)
        }
        self.frames = frames
        messages =
            unsafe result.messages.map { unsafe String(cString: $0).split(separator: "\n").map(String.init) } ?? []
    }
}
