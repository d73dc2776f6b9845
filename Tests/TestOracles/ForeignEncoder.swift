internal import CTestOracles

/// Makes streams with libx264 and libx265, to test decoders and readers.
public enum ForeignEncoder {
    /// An encode that failed.
    public struct Failure: Error, CustomStringConvertible {
        /// The messages of the encoder.
        public var description: String
    }

    /// Encodes 8-bit frames of one size to H.264. `options` are x264's, such as `qp=26:keyint=10:slices=2`.
    ///
    /// - Throws: `Failure` with the encoder's messages.
    public static func x264(_ frames: [PlanarFrame], options: String) throws -> [UInt8] {
        try encode("libx264", frames, options)
    }

    /// Encodes 8-bit or 10-bit frames of one size to HEVC. `options` are x265's, such as `qp=26:keyint=10:hash=1`,
    /// which adds MD5 hashes to the stream.
    ///
    /// - Throws: `Failure` with the encoder's messages.
    public static func x265(_ frames: [PlanarFrame], options: String) throws -> [UInt8] {
        // By default x265 writes to stderr and starts threads.
        try encode("libx265", frames, "log-level=none:pools=none:frame-threads=1:" + options)
    }

    private static func encode(_ name: String, _ frames: [PlanarFrame], _ options: String) throws -> [UInt8] {
        guard let first = frames.first else { return [] }
        let input = frames.flatMap(\.bytes)
        // SAFETY: the C function reads `frames.count` complete frames of that size; its result is copied and then
        // freed.
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
