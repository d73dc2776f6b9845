import Glibc
import Synchronization
import Threads
import VideoBase

/// The memory of one picture, which libavcodec reads without a copy. Both sides are even, and rows are padded to 64
/// bytes.
@safe final class FrameMemory: Sendable {
    let format: PixelFormat
    /// The visible size. The memory has space for even sides.
    let size: VideoSize
    // SAFETY: allocated in init, freed in deinit. Only the current owner of the buffer uses it: first the user, then
    // the encoder.
    nonisolated(unsafe) let base: UnsafeMutableRawPointer
    let byteCount: Int
    let offsets: [Int]
    let pitches: [Int]

    /// - Throws: `unavailable` if there is not enough memory.
    init(format: PixelFormat, size: VideoSize) throws {
        self.format = format
        self.size = size
        let even = size.aligned(to: 2)
        var offsets: [Int] = []
        var pitches: [Int] = []
        var total = 0
        for plane in 0..<format.planeCount {
            offsets.append(total)
            pitches.append(format.rowBytes(plane: plane, width: even.width).aligned(to: 64))
            total += pitches[plane] * format.rows(plane: plane, height: even.height)
        }
        self.offsets = offsets
        self.pitches = pitches
        // Encoders may read whole vectors past the end of the last row.
        byteCount = total + 64
        var made: UnsafeMutableRawPointer?
        guard unsafe posix_memalign(&made, 64, byteCount) == 0, let allocation = unsafe made else {
            throw VaencError.noMemory("for a picture of \(size)")
        }
        unsafe base = unsafe allocation
        unsafe base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit { unsafe free(base) }

    var planes: PixelPlanes {
        func plane(_ index: Int) -> UnsafeMutableRawPointer? {
            unsafe index < offsets.count ? base + offsets[index] : nil
        }
        func pitch(_ index: Int) -> Int { index < pitches.count ? pitches[index] : 0 }
        return unsafe PixelPlanes(
            format: format, size: size, allocatedSize: size.aligned(to: 2), bases: (plane(0), plane(1), plane(2)),
            pitches: (pitch(0), pitch(1), pitch(2)))
    }

    /// Copies the visible samples of a picture of the same format and size.
    func copyRows(of source: PixelPlanes) {
        let target = unsafe planes
        for plane in 0..<format.planeCount {
            let rowBytes = format.rowBytes(plane: plane, width: size.width)
            for row in 0..<format.rows(plane: plane, height: size.height) {
                unsafe (target.base(plane) + row * target.pitch(plane)).copyMemory(
                    from: source.base(plane) + row * source.pitch(plane), byteCount: rowBytes)
            }
        }
    }

    /// Repeats the last column and row of luma if the visible size is odd. Chroma already covers the even size.
    func padToEven() {
        let sampleBytes = format == .i420p10 ? 2 : 1
        let luma = unsafe planes.base(0)
        let pitch = pitches[0]
        if size.width % 2 == 1 {
            let rowBytes = size.width * sampleBytes
            for row in 0..<size.height {
                let end = unsafe luma + row * pitch + rowBytes
                unsafe end.copyMemory(from: end - sampleBytes, byteCount: sampleBytes)
            }
        }
        if size.height % 2 == 1 {
            let last = unsafe luma + (size.height - 1) * pitch
            unsafe (last + pitch).copyMemory(from: last, byteCount: pitch)
        }
    }
}

/// The memory of the pictures in use, with a limit on their number.
final class FramePool: Sendable {
    private struct State {
        var free: [FrameMemory] = []
        var made = 0
        var isClosed = false
    }

    private let monitor = Monitor(State())
    private let format: PixelFormat
    private let size: VideoSize
    private let limit: Int

    init(format: PixelFormat, size: VideoSize, limit: Int) {
        self.format = format
        self.size = size
        self.limit = limit
    }

    /// Returns a picture to fill; nil if the pool is closed. Blocks while all pictures are in use.
    ///
    /// - Throws: `unavailable` if there is not enough memory.
    func take() throws -> SoftwarePixelBuffer? {
        try monitor.wait { state -> SoftwarePixelBuffer?? in
            if state.isClosed { return .some(nil) }
            if let memory = state.free.popLast() { return SoftwarePixelBuffer(memory, self) }
            if state.made == limit { return nil }
            let memory = try FrameMemory(format: format, size: size)
            state.made += 1
            return SoftwarePixelBuffer(memory, self)
        }
    }

    /// Allocates the memory of all pictures, so that the first pictures do not wait for it.
    ///
    /// - Throws: `unavailable` if there is not enough memory.
    func fill() throws {
        try monitor.withLock { state in
            while state.made < limit {
                state.free.append(try FrameMemory(format: format, size: size))
                state.made += 1
            }
        }
    }

    func close() {
        monitor.withLock {
            $0.isClosed = true; $0.free = []
        }
    }

    fileprivate func recycle(_ memory: FrameMemory) {
        monitor.withLock { if !$0.isClosed { $0.free.append(memory) } }
    }
}

/// A picture of the pool. It returns to the pool when it is released.
final class SoftwarePixelBuffer: PixelBuffer {
    let memory: FrameMemory
    private let pool: FramePool
    /// Whether the encoder has the picture. It reads the memory later, so nobody may write there any more.
    private let isTaken = Atomic(false)

    init(_ memory: FrameMemory, _ pool: FramePool) {
        self.memory = memory
        self.pool = pool
    }

    deinit { pool.recycle(memory) }

    var format: PixelFormat { memory.format }
    var size: VideoSize { memory.size }

    func belongs(to pool: FramePool) -> Bool { self.pool === pool }

    /// Marks the picture as used by the encoder.
    ///
    /// - Throws: `usage` if the encoder has it already.
    func take() throws(VaencError) {
        if isTaken.exchange(true, ordering: .relaxed) { throw VaencError.bufferAlreadyEncoded }
    }

    /// - Throws: `usage` if the picture was encoded.
    func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        if isTaken.load(ordering: .relaxed) { throw VaencError.bufferAlreadyEncoded }
        return unsafe try body(memory.planes)
    }
}
