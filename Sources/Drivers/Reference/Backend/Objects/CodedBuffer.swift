internal import CVA
internal import Glibc

/// The memory of a coded picture, and the chain of segments through which a client reads it.
///
/// SAFETY: all segments are in one allocation. It is replaced only while no client has the buffer mapped, because a
/// job cannot be submitted on a mapped buffer. The segments point into `memory`, which this object keeps alive.
@safe final class CodedBuffer: @unchecked Sendable {
    /// A part of the coded bytes.
    struct Segment {
        /// The offset in `memory`.
        var offset: Int
        var count: Int
        /// VA_CODED_BUF_STATUS_… flags.
        var status: UInt32
    }

    let memory: HostMemory
    /// The unfinished job that writes into the buffer, or nil. The display's monitor guards it.
    var job: Job?
    private var chain: UnsafeMutablePointer<VACodedBufferSegment>
    private var chainCount: Int

    init(memory: HostMemory) {
        self.memory = memory
        unsafe chain = .allocate(capacity: 1)
        unsafe chain.initialize(to: VACodedBufferSegment())
        chainCount = 1
        setSegments([])
    }

    deinit { unsafe chain.deallocate() }

    /// The address that a client gets from vaMapBuffer. It is valid until the client unmaps the buffer.
    @unsafe var address: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(chain) }

    /// Replaces the chain by `segments`, or by one empty segment if there are none.
    func setSegments(_ segments: [Segment]) {
        let count = max(1, segments.count)
        if count != chainCount {
            unsafe chain.deallocate()
            unsafe chain = .allocate(capacity: count)
            unsafe chain.initialize(repeating: VACodedBufferSegment(), count: count)
            chainCount = count
        }
        for index in 0..<count {
            let segment = segments.isEmpty ? Segment(offset: 0, count: 0, status: 0) : segments[index]
            var entry = unsafe VACodedBufferSegment()
            unsafe entry.size = UInt32(segment.count)
            unsafe entry.status = segment.status
            unsafe entry.buf = memory.address + segment.offset
            unsafe entry.next = index + 1 < count ? UnsafeMutableRawPointer(chain + index + 1) : nil
            unsafe chain[index] = entry
        }
    }
}
