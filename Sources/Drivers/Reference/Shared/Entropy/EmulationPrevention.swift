/// Counts the emulation prevention bytes that a growing RBSP will need.
struct EmulationCount {
    private(set) var found = 0
    private var read = 0
    private var zeros = 0

    /// Goes on to byte `end`.
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

/// emulation_prevention_three_byte, H.264 7.4.1.1.
package enum EmulationPrevention {
    /// `prefix` as it is, then `count` bytes of RBSP in which a 3 goes before every byte 0…3 that follows two zeros.
    ///
    /// SAFETY: the array has room for the worst case, a 3 after every two bytes; `source` is vouched for by its maker.
    static func escape(_ source: ElementPointer<UInt8>, count: Int, after prefix: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: prefix.count + count + count / 2 + 8) { buffer, initialized in
            guard let base = buffer.baseAddress else { return }
            let output = unsafe ElementPointer(base)
            for (index, byte) in prefix.enumerated() { output[index] = byte }
            var written = prefix.count
            var read = 0
            var zeros = 0
            while read < count {
                // Eight bytes at a time while none is zero: the usual trick finds a zero byte in a word.
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

    /// An RBSP without the 3 that follows two zeros.
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

    /// The same for bytes in an array.
    package static func escape(_ bytes: [UInt8], after prefix: [UInt8] = []) -> [UInt8] {
        let storage = ElementStorage<UInt8>(count: bytes.count, repeating: 0)
        for (index, byte) in bytes.enumerated() { storage.elements[index] = byte }
        // The pointer must outlive its use.
        return withExtendedLifetime(storage) { escape(storage.elements, count: bytes.count, after: prefix) }
    }
}
