/// The one question that every scan of a byte stream asks: where are the next two zero bytes in a row?
///
/// Start codes (00 00 01), emulation prevention (00 00 03) and what needs it (00 00 00 to 00 00 03) all begin so.
package func firstZeroPair(in bytes: Span<UInt8>, from start: Int) -> Int? {
    let count = bytes.count
    var index = start
    // SAFETY: a load covers `width` bytes from `index + 1` at most, and the condition keeps that inside the span.
    unsafe bytes.withUnsafeBytes { raw in
        let width = MemoryLayout<SIMD32<UInt8>>.size
        while index + width < count {
            let here = unsafe raw.loadUnaligned(fromByteOffset: index, as: SIMD32<UInt8>.self)
            let next = unsafe raw.loadUnaligned(fromByteOffset: index + 1, as: SIMD32<UInt8>.self)
            let found = unsafe unsafeBitCast((here | next) .== 0, to: SIMD4<UInt64>.self)
            if (found[0] | found[1]) | (found[2] | found[3]) != 0 { break }
            index += width
        }
    }
    while index + 1 < count {
        if bytes[index + 1] != 0 {
            index += 2
        } else if bytes[index] != 0 {
            index += 1
        } else {
            return index
        }
    }
    return nil
}
