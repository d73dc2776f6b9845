internal import Glibc

/// Tries memory for code that allocates without a check.
package enum MemoryTrial {
    /// Whether so many bytes can be allocated at this moment: whether the process has the address space (RLIMIT_AS). Nothing
    /// is written, and everything is given back before this returns.
    package static func fits(_ byteCount: Int) -> Bool {
        if byteCount <= 0 { return true }
        // SAFETY: the mapping is new, never read or written, and unmapped with its own size.
        let made = unsafe mmap(nil, byteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let mapping = unsafe made, unsafe mapping != MAP_FAILED else { return fitsInHeap(byteCount) }
        _ = unsafe munmap(mapping, byteCount)
        return true
    }

    /// Whether there is room for a few decoded pictures of that size: what a decoder calls damage may be a lack of it.
    package static func fitsPictures(_ size: VideoSize) -> Bool {
        let (width, height) = (min(max(0, size.width), 1 << 16), min(max(0, size.height), 1 << 16))
        return fits(6 * width * height + 4_000_000)
    }

    /// malloc may have room of its own where no mapping is possible. More than a GiB it has not.
    private static func fitsInHeap(_ byteCount: Int) -> Bool {
        let blockSize = 1 << 20
        if byteCount > 1 << 30 { return false }
        var left = byteCount
        // A chain: each block holds the address of the one before, and no array has to grow.
        var latest: UnsafeMutableRawPointer?
        while left > 0 {
            guard let block = unsafe malloc(blockSize) else { break }
            // SAFETY: a block has room for an address at its start, aligned as malloc aligns.
            unsafe block.storeBytes(of: UInt(bitPattern: latest), as: UInt.self)
            unsafe latest = unsafe block
            left -= blockSize
        }
        while let block = unsafe latest {
            // SAFETY: as above; each block is freed once.
            unsafe latest = unsafe UnsafeMutableRawPointer(bitPattern: block.load(as: UInt.self))
            unsafe free(block)
        }
        return left <= 0
    }
}
