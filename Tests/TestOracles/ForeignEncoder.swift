internal import CTestOracles

/// Streams that libx264 and libx265 make, to try decoders and readers on.
public enum ForeignEncoder {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    /// Encodes 8-bit frames of one size to H.264; `options` are x264's (`qp=26:keyint=10:slices=2`).
    public static func x264(_ frames: [PlanarFrame], options: String) throws -> [UInt8] {
        try encode("libx264", frames, options)
    }

    /// Encodes frames of one size and depth, 8 or 10 bits, to HEVC; `options` are x265's (`qp=26:keyint=10:hash=1`,
    /// which puts MD5 hashes into the stream).
    public static func x265(_ frames: [PlanarFrame], options: String) throws -> [UInt8] {
        // It writes to stderr by itself, and would start threads of its own.
        try encode("libx265", frames, "log-level=none:pools=none:frame-threads=1:" + options)
    }

    private static func encode(_ name: String, _ frames: [PlanarFrame], _ options: String) throws -> [UInt8] {
        guard let first = frames.first else { return [] }
        let input = frames.flatMap(\.bytes)
        // SAFETY: the C side reads `frames.count` whole frames of that size; its result is copied, then freed.
        var result = unsafe input.withUnsafeBufferPointer {
            unsafe vaenc_oracle_encode(
                name, $0.baseAddress!, Int32(first.width), Int32(first.height), Int32(first.bitDepth),
                Int32(frames.count), options)
        }
        defer { unsafe vaenc_oracle_free(&result) }
        if let messages = unsafe result.messages { throw Failure(description: unsafe String(cString: messages)) }
        return unsafe Array(UnsafeBufferPointer(start: result.bytes, count: result.size))
    }
}
