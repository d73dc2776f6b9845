/// Returns the index of the next two zero bytes in a row at or after `start`; nil if there are none.
///
/// Start codes (00 00 01), emulation prevention (00 00 03) and what needs it (00 00 00 to 00 00 03) all begin so. The
/// scan reads whole words: Swift compiles comparisons of `SIMD32<UInt8>` into loops over elements, 400 times slower.
package func firstZeroPair(in bytes: Span<UInt8>, from start: Int) -> Int? {
    let count = bytes.count
    var index = start
    // SAFETY: a group reads `groupBytes` bytes from `index` and from `index + 1`, and the condition keeps both inside the span.
    unsafe bytes.withUnsafeBytes { raw in
        let groupBytes = 32
        while index + groupBytes < count {
            let found =
                unsafe (zeroBytes(raw, index) | zeroBytes(raw, index + 8))
                | (zeroBytes(raw, index + 16) | zeroBytes(raw, index + 24))
            if found & 0x8080_8080_8080_8080 != 0 { break }
            index += groupBytes
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

/// Sets the top bit of at least one byte if two zero bytes in a row begin among the eight bytes at `index`, and of none if
/// no two do. A byte of `here | next` is zero where a pair begins; subtracting one from each byte borrows only there, or
/// in bytes above.
@inline(__always)
private func zeroBytes(_ raw: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    let here = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    let next = unsafe raw.loadUnaligned(fromByteOffset: index + 1, as: UInt64.self)
    let both = here | next
    return (both &- 0x0101_0101_0101_0101) & ~both
}
