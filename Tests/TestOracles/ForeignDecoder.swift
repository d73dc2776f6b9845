internal import CTestOracles

/// The output of a decoder for one stream.
public struct DecodedVideo: Sendable {
    /// The frames in output order.
    public var frames: [PlanarFrame]
    /// The decoder's messages at warning level or above; empty for a valid stream.
    public var messages: [String]
}

/// A decoder that this project did not write. It runs in this process.
public enum ForeignDecoder: String, Sendable {
    /// FFmpeg's own decoders, like `ffmpeg -xerror -err_detect crccheck+explode`. MD5 hashes of HEVC pictures are
    /// checked.
    case libavcodec
    /// Cisco's decoder without concealment, for H.264 only.
    case openh264
    /// libde265, for HEVC only. It receives streams without repeated parameter sets: see `withoutRepeatedSets`.
    case libde265

    /// Returns the decoders of a codec.
    public static func all(for codec: StreamCodec) -> [ForeignDecoder] {
        switch codec {
        case .h264: [.libavcodec, .openh264]
        case .hevc: [.libavcodec, .libde265]
        }
    }

    /// Decodes an Annex B stream. Blocks.
    ///
    /// - Parameter isWhole: Whether frames have the coded size, including what the conformance window hides. openh264
    ///   ignores it.
    public func decode(_ stream: [UInt8], codec: StreamCodec = .h264, isWhole: Bool = false) -> DecodedVideo {
        let stream = self == .libde265 ? Self.withoutRepeatedSets(stream) : stream
        // SAFETY: the C function reads `count` bytes during the call; its result owns its memory until it is freed.
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

    /// Returns an HEVC stream without each VPS, SPS and PPS that equals the latest one of its kind byte for byte.
    /// Different sets are kept, and so are the sets after them that depend on them.
    ///
    /// A repeated SPS with the same content changes nothing (H.265 7.4.2.4.2) and may precede any IRAP picture.
    /// libde265 treats it as a new one and drops the pictures decoded with the previous one. Leading pictures of a CRA
    /// picture and pictures of a rolling refresh still refer to those.
    package static func withoutRepeatedSets(_ stream: [UInt8]) -> [UInt8] {
        let starts = stream.indices.dropLast(3).filter {
            stream[$0] == 0 && stream[$0 + 1] == 0 && stream[$0 + 2] == 1
        }
        var result: [UInt8] = []
        /// The latest sets by nal_unit_type: VPS 32, SPS 33, PPS 34.
        var latest: [UInt8: ArraySlice<UInt8>] = [:]
        var offset = 0
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : stream.count
            let type = stream[start + 3] >> 1 & 63
            guard (32...34).contains(type) else { continue }
            // Zeros at the end belong to the next start code (annex B).
            let unit = stream[(start + 3)..<end]
            let content = unit[...(unit.lastIndex { $0 != 0 } ?? start + 3)]
            if latest[type]?.elementsEqual(content) ?? false {
                result += stream[offset..<start]
                offset = end
            } else {
                for dependent in type...34 { latest[dependent] = nil }
                latest[type] = content
            }
        }
        return result + stream[offset...]
    }
}

extension DecodedVideo {
    /// Copies the contents of a result.
    fileprivate init(_ result: vaenc_oracle_result) {
        // SAFETY: result.c guarantees that every frame's planes lie inside `bytes` and that `messages` ends in a zero.
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
