/// Arrays in C structs, which Swift imports as tuples.
enum CArray {
    /// Copies values into a C array of the same element type, from its first element on. Values that do not fit are
    /// ignored.
    static func copy<Element: BitwiseCopyable, Tuple: BitwiseCopyable>(_ values: [Element], to tuple: inout Tuple) {
        unsafe withUnsafeMutableBytes(of: &tuple) { bytes in
            unsafe values.withUnsafeBytes { source in
                // SAFETY: At most as many bytes are copied as the smaller of the two holds, and the tuple holds only
                // such elements.
                unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(bytes.count)))
            }
        }
    }
}
