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
    /// HEVC alone. Without parameter sets that say again what is known: see `withoutRepeatedSets`.
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
        let stream = self == .libde265 ? Self.withoutRepeatedSets(stream) : stream
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

    /// An HEVC stream less the VPS, SPS and PPS that are, byte for byte, the latest of their kind. A sequence parameter set
    /// sent again with the same content changes nothing (H.265 7.4.2.4.2) and may stand before any IRAP picture; libde265
    /// takes it for a new one, and loses the pictures decoded with the one before, which leading pictures of a CRA picture
    /// and pictures of a rolling refresh still refer to.
    ///
    /// What differs stays, and so do the sets after it that depend on it.
    package static func withoutRepeatedSets(_ stream: [UInt8]) -> [UInt8] {
        let starts = stream.indices.dropLast(3).filter {
            stream[$0] == 0 && stream[$0 + 1] == 0 && stream[$0 + 2] == 1
        }
        var result: [UInt8] = []
        /// By nal_unit_type: VPS 32, SPS 33, PPS 34.
        var latest: [UInt8: ArraySlice<UInt8>] = [:]
        var place = 0
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : stream.count
            let type = stream[start + 3] >> 1 & 63
            guard (32...34).contains(type) else { continue }
            // Zeros at its end are the next start code's (annex B).
            let unit = stream[(start + 3)..<end]
            let content = unit[...(unit.lastIndex { $0 != 0 } ?? start + 3)]
            if latest[type]?.elementsEqual(content) ?? false {
                result += stream[place..<start]
                place = end
            } else {
                for dependent in type...34 { latest[dependent] = nil }
                latest[type] = content
            }
        }
        return result + stream[place...]
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
