import Synchronization
import VideoBase

/// A moving, detailed picture that is the same on every machine: scrolling color bars, a moving gradient and a moving
/// texture, a rotating hand, and the number of the picture.
///
/// Bands are copied from prepared tiles at a moving offset, so a picture costs about as much as a copy.
final class TestPattern: FrameSource {
    let info: SourceInfo

    private let frames: Int
    private let tiles: [PatternTile]
    private let size: VideoSize
    /// Whether samples have ten significant bits.
    private let isDeep: Bool
    private let state: Guarded<State>
    private let cancelled = Atomic(false)

    private struct State {
        var index: Int
        var shaper: FrameShaper
        var staging: SystemPixelBuffer?
        var deep: SystemPixelBuffer?
    }

    /// Creates the pattern of `testsrc:WxH@FPS:FRAMES`. The rate (default 30) and the number of frames (default 300)
    /// are optional.
    /// - Throws: `usage` with the correct spelling.
    convenience init(_ text: String, options: SourceOptions) throws {
        let wrong = VaencError(
            .usage, "“\(text)” is not a test pattern",
            remedy: "use testsrc:WIDTHxHEIGHT@FPS:FRAMES, for example testsrc:1280x720@30:300")
        let body = text.dropFirst("testsrc:".count)
        let parts = body.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let rateParts = (parts.count == 2 ? parts[1] : "30").split(separator: ":", omittingEmptySubsequences: false)
        let sizeParts = parts[0].split(separator: ":", omittingEmptySubsequences: false)
        guard let size = sizeParts.first.flatMap({ VideoSize($0) }),
            let rate = rateParts.first.flatMap({ Rational(rate: $0) }),
            rateParts.count <= 2, sizeParts.count == 1 || (sizeParts.count == 2 && parts.count == 1)
        else { throw wrong }
        let count =
            parts.count == 2
            ? (rateParts.count == 2 ? Int(rateParts[1]) : 300) : (sizeParts.count == 2 ? Int(sizeParts[1]) : 300)
        guard let count, count > 0, rate.numerator <= Int32.max, rate.denominator <= Int32.max else { throw wrong }
        guard size.isWithinLimits else {
            throw VaencError(
                .usage, "the test pattern's size \(size) is out of range",
                remedy: "sizes are \(VideoSize.limitWords)")
        }
        if let other = options.inputSize, other != size {
            throw VaencError(.usage, "\(text) has the size \(size), not \(other)", remedy: "leave out `inputSize`")
        }
        if let format = options.inputFormat, ![.nv12, .i420, .yv12, .p010, .i420p10].contains(format) {
            throw VaencError(
                .usage, "a test pattern is 4:2:0, not \(format.rawValue)", remedy: "use nv12 or p010, or leave out `inputFormat`")
        }
        self.init(size: size, rate: rate, frames: count, options: options)
    }

    init(size: VideoSize, rate ownRate: Rational, frames: Int, options: SourceOptions) {
        let rate = options.frameRate ?? ownRate
        self.size = size
        isDeep = (options.inputFormat?.bitDepth ?? 8) > 8
        let first = rate.firstFrame(from: options.start?.seconds ?? 0)
        var last = frames
        for limit in [options.duration.map { rate.frameCount(from: options.start?.seconds, for: $0.seconds) }, options.frameLimit] {
            if let limit, limit < last - first { last = first + limit }
        }
        self.frames = last
        let color = ColorDescription(primaries: 1, transfer: 1, matrix: 1, fullRange: false)
        let shaper = FrameShaper(
            source: size, aspect: Rational(1, 1), color: color, output: options.outputSize, fit: options.fit)
        tiles = PatternTile.all
        let count = max(0, last - first)
        var info = SourceInfo(
            size: shaper.outputSize, frameRate: rate, color: color, sampleAspectRatio: Rational(1, 1),
            frameCount: count,
            duration: rate.duration(of: count), nativeFormat: isDeep ? .p010 : .nv12, nativeSize: size,
            kind: "test pattern")
        info.note(options)
        info.changes += [SourceInfo.speedChange(from: ownRate, to: options.frameRate)].compactMap { $0 }
        self.info = info
        firstIndex = first
        state = Guarded(State(index: first, shaper: shaper))
    }

    private let firstIndex: Int

    func readFrame(into planes: PixelPlanes) throws -> FrameTiming? {
        if cancelled.load(ordering: .relaxed) { throw SystemError.interrupted }
        unsafe try planes.check(forPicturesOf: info.size)
        return try state.withLock { state in
            if state.index >= frames { return nil }
            if unsafe planes.format == .nv12 && planes.size == size && state.shaper.parts == .whole && !isDeep {
                unsafe draw(state.index, into: planes)
            } else {
                let staging = try state.staging ?? SystemPixelBuffer(format: .nv12, size: size)
                state.staging = staging
                unsafe try staging.withUnsafePlanes { picture in
                    unsafe draw(state.index, into: picture)
                    if !isDeep { return unsafe try state.shaper.shape(picture, to: planes) }
                    let deep = try state.deep ?? SystemPixelBuffer(format: .p010, size: size)
                    state.deep = deep
                    unsafe try deep.withUnsafePlanes { wide in
                        unsafe SampleDepth.convert(picture, to: wide, fullRange: false)
                        unsafe addFineSteps(wide)
                        unsafe try state.shaper.shape(wide, to: planes)
                    }
                }
            }
            defer { state.index += 1 }
            let rate = info.frameRate
            return FrameTiming(
                presentation: MediaTime(
                    value: Int64((state.index - firstIndex) * rate.denominator), timescale: Int32(rate.numerator)),
                duration: MediaTime(value: Int64(rate.denominator), timescale: Int32(rate.numerator)))
        }
    }

    func cancel() { cancelled.store(true, ordering: .relaxed) }
    func close() { state.withLock { $0.index = frames } }

    // SAFETY: `planes` is NV12 of `size`. Every row is written from 0 to its width, and overlays are clipped to the
    // picture.
    private func draw(_ index: Int, into planes: PixelPlanes) {
        let width = size.width
        let luma = unsafe (base: planes.base(0), pitch: planes.pitch(0))
        let chroma = unsafe (base: planes.base(1), pitch: planes.pitch(1))
        for y in 0..<size.height {
            let (tile, row, offset) = tileRow(y, index)
            unsafe tile.copyLuma(row: row, offset: offset, to: luma.base + y * luma.pitch, count: width)
        }
        for y in 0..<(size.height + 1) / 2 {
            let (tile, row, offset) = tileRow(y * 2, index)
            unsafe tile.copyChroma(
                row: row / 2, offset: offset, to: chroma.base + y * chroma.pitch, count: (width + 1) / 2 * 2)
        }
        let overlay = unsafe PatternOverlay(planes: planes)
        overlay.drawHand(index)
        overlay.drawNumber(index)
    }

    /// Adds a four-step pattern along each row in the two lowest bits, which a conversion to 8 bits loses.
    // SAFETY: `planes` is P010 of `size`.
    private func addFineSteps(_ planes: PixelPlanes) {
        for y in 0..<size.height {
            let row = unsafe (planes.base(0) + y * planes.pitch(0)).assumingMemoryBound(to: UInt16.self)
            for x in 0..<size.width { unsafe row[x] |= UInt16(truncatingIfNeeded: x & 3) << 6 }
        }
    }

    /// Returns the tile and its row that are shown in row `y`, and the tile's shift. Shifts are even.
    private func tileRow(_ y: Int, _ index: Int) -> (PatternTile, row: Int, offset: Int) {
        let side = PatternTile.side
        let third = (size.height / 3) & ~1
        if y < third { return (tiles[0], y % side, index * 2 % side) }
        if y < 2 * third { return (tiles[1], (y + index * 2) % side, index * 4 % side) }
        return (tiles[2], (y + side - index * 2 % side) % side, index * 6 % side)
    }
}
