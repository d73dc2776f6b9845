internal import CVA
internal import Glibc

/// Where a coded picture goes, and the chain of segments that a client reads it by.
///
/// SAFETY: the segments live in one block that is replaced only while no client has the buffer mapped (a job may
/// not be submitted on a mapped buffer); their pointers go into `memory`, which the object keeps.
@safe final class CodedBuffer: @unchecked Sendable {
    /// A part of the coded bytes.
    struct Segment {
        var offset: Int
        var count: Int
        /// VA_CODED_BUF_STATUS_… flags.
        var status: UInt32
    }

    let memory: HostMemory
    /// The job that writes here and is not done. Guarded by the display's monitor.
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

    /// For the client, until it unmaps the buffer.
    @unsafe var address: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(chain) }

    /// Shows `segments`, or one empty segment where there are none.
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
