internal import Glibc

/// Checks whether memory is available, for code that allocates without a check.
package enum MemoryTrial {
    /// Whether this many bytes can be allocated now, that is, whether the process has the address space (RLIMIT_AS). No
    /// memory is written, and everything is released before the function returns.
    package static func fits(_ byteCount: Int) -> Bool {
        if byteCount <= 0 { return true }
        // SAFETY: The mapping is new, never read or written, and unmapped with its own size.
        let made = unsafe mmap(nil, byteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let mapping = unsafe made, unsafe mapping != MAP_FAILED else { return fitsInHeap(byteCount) }
        _ = unsafe munmap(mapping, byteCount)
        return true
    }

    /// The size in bytes up to which memory is not checked: malloc has some memory left even if no mapping is possible.
    private static let small = 1 << 16
    /// The memory in bytes that other allocations may need in the meantime.
    private static let margin = 1 << 22

    /// Requires that this many bytes can be allocated. For sizes that come from a file, a stream or a caller. Small
    /// sizes are not checked.
    ///
    /// - Parameter purpose: The purpose of the memory, such as `to read movie.mp4`.
    /// - Throws: A `VaencError` of category `.unavailable` if there is not enough memory.
    package static func require(_ byteCount: Int, _ purpose: @autoclosure () -> String) throws(VaencError) {
        if byteCount <= small { return }
        let (whole, isOutside) = byteCount.addingReportingOverflow(margin)
        if isOutside || !fits(whole) { throw VaencError.noMemory(purpose()) }
    }

    /// Whether there is memory for a few decoded pictures of this size. A decoder may report a lack of memory as
    /// damage.
    package static func fitsPictures(_ size: VideoSize) -> Bool {
        let (width, height) = (min(max(0, size.width), 1 << 16), min(max(0, size.height), 1 << 16))
        return fits(6 * width * height + 4_000_000)
    }

    /// Whether malloc has this many bytes. It may have free memory even if no mapping is possible, but not more than a
    /// GiB.
    private static func fitsInHeap(_ byteCount: Int) -> Bool {
        let blockSize = 1 << 20
        if byteCount > 1 << 30 { return false }
        var left = byteCount
        // The blocks form a chain: each holds the address of the previous one, so that no array has to grow.
        var latest: UnsafeMutableRawPointer?
        while left > 0 {
            guard let block = unsafe malloc(blockSize) else { break }
            // SAFETY: A block has room for an address at its start, and malloc aligns it.
            unsafe block.storeBytes(of: UInt(bitPattern: latest), as: UInt.self)
            unsafe latest = unsafe block
            left -= blockSize
        }
        while let block = unsafe latest {
            // SAFETY: The block was written above, and each block is freed once.
            unsafe latest = unsafe UnsafeMutableRawPointer(bitPattern: block.load(as: UInt.self))
            unsafe free(block)
        }
        return left <= 0
    }
}

extension Array {
    /// Reserves capacity for more elements. Without this, an array that grows when there is no memory ends the process.
    ///
    /// - Parameters:
    ///   - ceiling: The total number of elements as far as it is known. No capacity is reserved ahead beyond it.
    ///   - purpose: The purpose of the memory, such as `to read movie.mp4`.
    /// - Throws: A `VaencError` of category `.unavailable` if there is not enough memory.
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
