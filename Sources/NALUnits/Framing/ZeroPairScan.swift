/// Returns the index of the first two consecutive zero bytes at or after `start`, or nil if there are none.
///
/// Start codes (00 00 01), emulation prevention (00 00 03) and the bytes that need it (00 00 00 to 00 00 03) all begin
/// with two zero bytes. The scan reads whole words, because Swift compiles comparisons of `SIMD32<UInt8>` into loops
/// over elements, which are 400 times slower.
package func firstZeroPair(in bytes: Span<UInt8>, from start: Int) -> Int? {
    let count = bytes.count
    var index = start
    // SAFETY: A group reads `groupBytes` bytes from `index` and from `index + 1`; the loop condition keeps both in the
    // span.
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

/// Returns a word in which the top bit of at least one byte is set if two consecutive zero bytes begin among the eight
/// bytes at `index`, and in which no top bit is set otherwise.
///
/// A byte of `here | next` is zero if a pair begins at it. Subtracting one from every byte sets the top bit of a zero
/// byte. A borrow begins only at a zero byte and changes only the bytes above it. Without a zero byte, `~both` clears
/// the top bits of all other bytes.
@inline(__always)
private func zeroBytes(_ raw: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
    let here = unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    let next = unsafe raw.loadUnaligned(fromByteOffset: index + 1, as: UInt64.self)
    let both = here | next
    return (both &- 0x0101_0101_0101_0101) & ~both
}
