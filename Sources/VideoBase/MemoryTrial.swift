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

    /// Bytes up to which memory is taken without a trial: malloc has some left even where no mapping is possible.
    private static let small = 1 << 16
    /// What all else takes meanwhile.
    private static let margin = 1 << 22

    /// The same for memory whose size a file, a stream or a caller says; of a little it is taken for granted.
    ///
    /// - Parameter purpose: what it is for, as `to read movie.mp4`.
    /// - Throws: `unavailable` where there is none.
    package static func require(_ byteCount: Int, _ purpose: @autoclosure () -> String) throws(VaencError) {
        if byteCount <= small { return }
        let (whole, isOutside) = byteCount.addingReportingOverflow(margin)
        if isOutside || !fits(whole) { throw VaencError.noMemory(purpose()) }
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

extension Array {
    /// Makes room for more elements: an array that grows where there is no memory ends the process.
    ///
    /// - Parameters:
    ///   - ceiling: how many elements there will be in all, as far as that is known: room is made for no more of them.
    ///   - purpose: what the memory is for, as `to read movie.mp4`.
    /// - Throws: `unavailable` where there is none.
    package mutating func makeRoom(
        for more: Int, ceiling: Int = .max, _ purpose: @autoclosure () -> String
    ) throws(VaencError) {
        let needed = count.addingReportingOverflow(more)
        if !needed.overflow, needed.partialValue <= capacity { return }
        let doubled = capacity.multipliedReportingOverflow(by: 2)
        let ahead = doubled.overflow ? Int.max : doubled.partialValue
        let room = Swift.max(needed.partialValue, needed.partialValue > ceiling ? ahead : Swift.min(ahead, ceiling))
        let bytes = room.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        if needed.overflow || bytes.overflow { throw VaencError.noMemory(purpose()) }
        try MemoryTrial.require(bytes.partialValue, purpose())
        reserveCapacity(room)
    }
}
