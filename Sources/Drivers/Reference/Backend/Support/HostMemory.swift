internal import Glibc

/// Zeroed memory that clients map: pages from the system where it is large, so that what nobody touches costs nothing.
///
/// SAFETY: one allocation that lives as long as the object; offsets are checked against its size.
@safe final class HostMemory: @unchecked Sendable {
    let byteCount: Int
    private let base: UnsafeMutableRawPointer
    /// Bytes from the system; 0 for memory of malloc's.
    private let mappedBytes: Int
    /// What is shared with clients, in the order in which it stands here, each from a page's start on.
    let objects: [SharedObject]

    /// Nil where there is no memory.
    init?(byteCount: Int) {
        guard byteCount >= 0 else { return nil }
        self.byteCount = byteCount
        objects = []
        if byteCount >= 1 << 16 {
            let pages = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let pages = unsafe pages, unsafe pages != MAP_FAILED else { return nil }
            unsafe base = pages
            mappedBytes = byteCount
        } else {
            guard let block = unsafe calloc(1, max(byteCount, 1)) else { return nil }
            unsafe base = block
            mappedBytes = 0
        }
    }

    /// Objects one after another, and a page of nobody's after the last, for kernels that look past the end. Nil where
    /// one cannot be mapped for reading and writing.
    init?(objects: [SharedObject]) {
        let room = objects.reduce(Self.page) { $0 + Self.pages($1.byteCount) }
        let start = unsafe mmap(nil, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else { return nil }
        var end = 0
        for object in objects {
            let place = unsafe mmap(
                start + end, object.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, object.descriptor, 0)
            guard unsafe place != MAP_FAILED else {
                unsafe munmap(start, room)
                return nil
            }
            end += Self.pages(object.byteCount)
        }
        unsafe base = start
        byteCount = end
        mappedBytes = room
        self.objects = objects
    }

    /// Where an object of several begins.
    static func offset(of index: Int, in objects: [SharedObject]) -> Int {
        objects.prefix(index).reduce(0) { $0 + pages($1.byteCount) }
    }

    private static let page = 4096
    /// Rounded up to whole pages.
    private static func pages(_ bytes: Int) -> Int { (bytes + page - 1) / page * page }

    deinit {
        if mappedBytes > 0 {
            unsafe munmap(base, mappedBytes)
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

    /// A pointer of bytes from `offset` on, which must be inside.
    func elements(at offset: Int) -> ElementPointer<UInt8> {
        precondition(offset >= 0 && offset <= byteCount)
        return unsafe ElementPointer((base + offset).assumingMemoryBound(to: UInt8.self))
    }
}
