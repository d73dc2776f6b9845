extension PixelBuffer {
    /// Maps the planes and calls `body` with each row of each plane, from plane 0 and from the top. Blocks while the device
    /// uses the buffer.
    ///
    /// - Parameters:
    ///   - body: Reads or writes a row.
    ///   - plane: The plane: 0 is luma. The others are chroma, in pairs of Cb and Cr (NV12, P010) or one plane each.
    ///   - row: The row of the plane.
    ///   - bytes: The visible bytes of the row, valid only during the call. A sample of more than eight bits has two bytes,
    ///     the low one first.
    /// - Throws: A `VaencError` of category `.usage` if the buffer was encoded already, or if its planes do not match its
    ///   format and size; the errors of the device's mapping; the errors of `body`.
    public func withRows(_ body: (_ plane: Int, _ row: Int, _ bytes: inout MutableSpan<UInt8>) throws -> Void) throws {
        let (format, size) = (format, size)
        try unsafe withUnsafePlanes { planes in
            try unsafe planes.check(format: format, size: size)
            for plane in 0..<format.planeCount {
                let count = format.rowBytes(plane: plane, width: size.width)
                var start = unsafe planes.base(plane)
                let rows = format.rows(plane: plane, height: size.height)
                for row in 0..<rows {
                    // SAFETY: `check` has found that the plane holds rows of `count` bytes. They are valid during the call.
                    var bytes = unsafe MutableSpan<UInt8>(_unsafeStart: start.assumingMemoryBound(to: UInt8.self), count: count)
                    try body(plane, row, &bytes)
                    if row + 1 < rows { unsafe start += planes.pitch(plane) }
                }
            }
        }
    }
}
