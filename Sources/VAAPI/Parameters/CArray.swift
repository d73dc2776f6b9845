/// Arrays of C structs, which Swift sees as tuples.
enum CArray {
    /// Copies values into a C array of their type, from its first element on. Values past its end are left out.
    static func copy<Element: BitwiseCopyable, Tuple: BitwiseCopyable>(_ values: [Element], to tuple: inout Tuple) {
        unsafe withUnsafeMutableBytes(of: &tuple) { bytes in
            unsafe values.withUnsafeBytes { source in
                // SAFETY: no more bytes than the smaller of the two has; the tuple holds nothing but such elements.
                unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(bytes.count)))
            }
        }
    }
}
