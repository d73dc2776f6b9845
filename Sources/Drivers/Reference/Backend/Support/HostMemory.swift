internal import Glibc

/// Zeroed memory that clients can map. From 64 KiB on it comes from mmap, so that untouched pages use no physical
/// memory.
///
/// SAFETY: the object owns one allocation, which it frees in `deinit`. Offsets are checked against `byteCount`. Users
/// of the pointers from `address` and `elements` must stay inside and keep the object alive.
@safe final class HostMemory: @unchecked Sendable {
    let byteCount: Int
    private let base: UnsafeMutableRawPointer
    /// The number of bytes that were mapped with mmap; 0 if the memory comes from calloc; nil if it is the client's.
    private let mappedBytes: Int?
    /// The shared objects that are mapped here, in their order in memory. Each begins at a page boundary.
    let objects: [SharedObject]

    /// Allocates memory of the driver. Returns nil if there is not enough memory.
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

    /// Maps shared objects one after another. A spare page follows the last, because kernels read past the end. Returns
    /// nil if an object cannot be mapped for reading and writing.
    init?(objects: [SharedObject]) {
        let mappedLength = objects.reduce(Self.page) { $0 + Self.pages($1.byteCount) }
        let start = unsafe mmap(nil, mappedLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start = unsafe start, unsafe start != MAP_FAILED else { return nil }
        var end = 0
        for object in objects {
            let mapping = unsafe mmap(
                start + end, object.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, object.descriptor, 0)
            guard unsafe mapping != MAP_FAILED else {
                unsafe munmap(start, mappedLength)
                return nil
            }
            end += Self.pages(object.byteCount)
        }
        unsafe base = start
        byteCount = end
        mappedBytes = mappedLength
        self.objects = objects
    }

    /// Returns the offset of `objects[index]` in memory that holds `objects`, in bytes.
    static func offset(of index: Int, in objects: [SharedObject]) -> Int {
        objects.prefix(index).reduce(0) { $0 + pages($1.byteCount) }
    }

    /// Uses the client's memory: whole pages. Returns nil if it is not mapped.
    init?(borrowing address: UInt, byteCount: Int) {
        guard let start = unsafe UnsafeMutableRawPointer(bitPattern: address), unsafe msync(start, byteCount, MS_ASYNC) == 0 else { return nil }
        unsafe base = start
        self.byteCount = byteCount
        mappedBytes = nil
        objects = []
    }

    static let page = 4096
    /// The number of bytes after the last row that kernels may read.
    static let slack = 64
    /// Returns `bytes`, rounded up to whole pages.
    private static func pages(_ bytes: Int) -> Int { (bytes + page - 1) / page * page }

    deinit {
        guard let mappedBytes else { return }
        if mappedBytes > 0 {
            unsafe munmap(base, mappedBytes)
        } else {
            unsafe free(base)
        }
    }

    /// The address for the client, which may access `byteCount` bytes from here until the object is released.
    @unsafe var address: UnsafeMutableRawPointer { unsafe base }

    /// Returns the plain C value at `offset`, in bytes; nil if the value would end outside the memory.
    func load<Value>(_ type: Value.Type = Value.self, at offset: Int = 0) -> Value? {
        guard offset >= 0, offset <= byteCount - MemoryLayout<Value>.size else { return nil }
        // A misc parameter begins at byte 4 of its buffer, so a structure that contains pointers is not aligned there.
        return unsafe withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { aligned in
            guard let start = aligned.baseAddress else { return nil }
            unsafe memcpy(start, base + offset, MemoryLayout<Value>.size)
            return unsafe start.pointee
        }
    }

    /// Returns the bytes `offset ..< offset + count`, without those outside the memory.
    func bytes(at offset: Int = 0, count: Int) -> [UInt8] {
        let start = min(max(offset, 0), byteCount)
        let length = min(max(count, 0), byteCount - start)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: base + start, count: length))
    }

    /// Writes all of `bytes` at `offset`. If they do not fit, writes nothing and returns false.
    func store(_ bytes: [UInt8], at offset: Int) -> Bool {
        guard offset >= 0, bytes.count <= byteCount - offset else { return false }
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe (base + offset).copyMemory(from: start, byteCount: source.count)
        }
        return true
    }

    /// Returns a pointer to the byte at `offset`, which must be in `0...byteCount`.
    func elements(at offset: Int) -> ElementPointer<UInt8> {
        precondition(offset >= 0 && offset <= byteCount)
        return unsafe ElementPointer((base + offset).assumingMemoryBound(to: UInt8.self))
    }
}
