internal import Glibc

/// Zeroed memory that clients map: pages from the system where it is large, so that what nobody touches costs nothing.
///
/// SAFETY: one allocation that lives as long as the object; offsets are checked against its size.
@safe final class HostMemory: @unchecked Sendable {
    let byteCount: Int
    private let base: UnsafeMutableRawPointer
    private let isMapped: Bool

    /// Nil where there is no memory.
    init?(byteCount: Int) {
        guard byteCount >= 0 else { return nil }
        self.byteCount = byteCount
        if byteCount >= 1 << 16 {
            let pages = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let pages = unsafe pages, unsafe pages != MAP_FAILED else { return nil }
            unsafe base = pages
            isMapped = true
        } else {
            guard let block = unsafe calloc(1, max(byteCount, 1)) else { return nil }
            unsafe base = block
            isMapped = false
        }
    }

    deinit {
        if isMapped {
            unsafe munmap(base, byteCount)
        } else {
            unsafe free(base)
        }
    }

    /// For handing to the client, who may use `byteCount` bytes from here until the object goes.
    @unsafe var address: UnsafeMutableRawPointer { unsafe base }

    /// The plain C value that starts at `offset`, or nil where it would end outside.
    func load<Value>(_ type: Value.Type = Value.self, at offset: Int = 0) -> Value? {
        guard offset >= 0, offset <= byteCount - MemoryLayout<Value>.size else { return nil }
        // Misc parameters stand 4 bytes into their buffer, those with pointers among them too.
        return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { aligned in
            guard let start = aligned.baseAddress else { return nil }
            unsafe memcpy(start, base + offset, MemoryLayout<Value>.size)
            return unsafe start.pointee
        }
    }

    /// Bytes `offset ..< offset + count`, as far as there are that many.
    func bytes(at offset: Int = 0, count: Int) -> [UInt8] {
        let start = min(max(offset, 0), byteCount)
        let length = min(max(count, 0), byteCount - start)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: base + start, count: length))
    }

    /// Writes all of `bytes` at `offset`; false, and nothing written, where they do not fit.
    func store(_ bytes: [UInt8], at offset: Int) -> Bool {
        guard offset >= 0, bytes.count <= byteCount - offset else { return false }
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (base + offset).copyMemory(from: start, byteCount: source.count)
        }
        return true
    }

    /// A lane of bytes from `offset` on, which must be inside.
    func lane(at offset: Int) -> Lane<UInt8> {
        precondition(offset >= 0 && offset <= byteCount)
        return unsafe Lane((base + offset).assumingMemoryBound(to: UInt8.self))
    }
}
