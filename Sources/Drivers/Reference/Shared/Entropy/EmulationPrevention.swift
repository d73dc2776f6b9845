/// Counts the emulation prevention bytes that a growing RBSP needs.
struct EmulationCount {
    private(set) var found = 0
    private var read = 0
    private var zeros = 0

    /// Continues counting up to byte `end`.
    mutating func count(_ source: ElementPointer<UInt8>, upTo end: Int) {
        while read < end {
            let byte = source[read]
            if zeros >= 2 && byte <= 3 {
                found &+= 1
                zeros = 0
            }
            zeros = byte == 0 ? zeros &+ 1 : 0
            read &+= 1
        }
    }
}

/// Emulation prevention with emulation_prevention_three_byte, H.264 7.4.1.1.
package enum EmulationPrevention {
    /// Returns `prefix` unchanged, followed by `count` bytes of an RBSP with emulation prevention: a 3 is inserted
    /// before each byte 0…3 that follows two zeros.
    ///
    /// SAFETY: the array has space for the worst case, a 3 after every two bytes, so all writes are inside it. The
    /// caller guarantees that `source` has `count` bytes.
    static func escape(_ source: ElementPointer<UInt8>, count: Int, after prefix: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: prefix.count + count + count / 2 + 8) { buffer, initialized in
            guard let base = buffer.baseAddress else { return }
            let output = unsafe ElementPointer(base)
            for (index, byte) in prefix.enumerated() { output[index] = byte }
            var written = prefix.count
            var read = 0
            var zeros = 0
            while read < count {
                // Copies eight bytes at a time while none of them is zero. The expression detects a zero byte in a
                // word.
                if zeros == 0 && read &+ 8 <= count {
                    let word = source.load(read, as: UInt64.self)
                    if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 == 0 {
                        output.store(written, word)
                        read &+= 8
                        written &+= 8
                        continue
                    }
                }
                let byte = source[read]
                if zeros >= 2 && byte <= 3 {
                    output[written] = 3
                    written &+= 1
                    zeros = 0
                }
                output[written] = byte
                zeros = byte == 0 ? zeros &+ 1 : 0
                read &+= 1
                written &+= 1
            }
            initialized = written
        }
    }

    /// Returns an RBSP without emulation prevention: each 3 after two zeros is removed.
    package static func unescape(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var zeros = 0
        for byte in bytes {
            if zeros >= 2 && byte == 3 {
                zeros = 0
                continue
            }
            result.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return result
    }

    /// Returns `prefix` unchanged, followed by `bytes` with emulation prevention.
    package static func escape(_ bytes: [UInt8], after prefix: [UInt8] = []) -> [UInt8] {
        let storage = ElementStorage<UInt8>(count: bytes.count, repeating: 0)
        for (index, byte) in bytes.enumerated() { storage.elements[index] = byte }
        // The storage must stay alive while its pointer is used.
        return withExtendedLifetime(storage) { escape(storage.elements, count: bytes.count, after: prefix) }
    }
}
