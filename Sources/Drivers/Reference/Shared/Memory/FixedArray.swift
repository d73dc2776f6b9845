/// Reads C arrays in structures. Swift imports them as tuples.
enum FixedArray {
    /// Returns the first `count` elements, or all elements if there are fewer.
    ///
    /// SAFETY: a C array of `Element` is imported as a tuple with the same memory layout, and `available` limits the
    /// reads to the tuple's bytes.
    static func values<Tuple, Element: BitwiseCopyable>(
        _ tuple: Tuple, as type: Element.Type, count: Int
    ) -> [Element] {
        unsafe withUnsafeBytes(of: tuple) { bytes in
            let available = min(max(count, 0), bytes.count / MemoryLayout<Element>.stride)
            return (0..<available).map {
                unsafe bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Element>.stride, as: type)
            }
        }
    }
}
