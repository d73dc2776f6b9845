import VideoBase

/// The minimum memory that libx265 allocates, in bytes. It is checked before libx265 allocates it, because libx265 does
/// not check all of its allocations: if one fails, the process ends with SIGSEGV or std::bad_alloc (libx265 199).
///
/// The sizes were measured with libx265 199. They are up to 20 % below the actual values, so that a run with enough
/// memory is not rejected. libx265 allocates memory for a picture and its downscaled copies when the picture is passed
/// in. It allocates memory for coding a picture when coding begins, which is later if it looks ahead. Memory of
/// finished pictures is reused.
struct EncoderMemory: Sendable, Hashable {
    /// The memory for a picture that is passed in: its samples with margins, four copies of half the width and height,
    /// and costs.
    let picture: Int
    /// The memory for coding a picture: the reconstructed samples and the data of each block.
    let coding: Int
    /// The memory for coding the first picture: the structures of the frame encoder.
    let frameEncoder: Int
    /// The index of the first picture that can be passed in after coding has begun.
    let firstCoded: Int
    /// The number of pictures for which coding memory is allocated, if enough pictures are passed in.
    let codedCount: Int
    /// The index of the first picture for which no more memory is allocated.
    let steady: Int

    /// The memory for opening the library.
    static let opening = 3_000_000
    /// The memory for tables of a new QP, and for growing bitstreams.
    static let slack = 2_000_000

    private let size: VideoSize
    private let isFastest: Bool

    /// Returns nil for libx264, which checks its allocations.
    init?(_ settings: EncoderSettings) {
        switch settings.library {
        case .x264: return nil
        case .x265: break
        }
        size = settings.codedSize
        isFastest = settings.preset == EncoderSettings.presetNames.count
        let (width, height) = (size.width, size.height)
        let sampleBytes = settings.bufferFormat == .i420p10 ? 2 : 1
        // The largest coding tree unit of the preset, and the margins that libx265 derives from it.
        let unit = isFastest ? 32 : 64
        let (marginX, marginY) = (2 * (unit + 32), 2 * (unit + 16))
        let (alignedWidth, alignedHeight) = (width.aligned(to: unit), height.aligned(to: unit))
        let samples = (alignedWidth + marginX) * (alignedHeight + marginY) * 3 / 2 * sampleBytes
        let reduced = 4 * (width / 2 + marginX) * (height / 2 + marginY) * sampleBytes
        let bFrames = settings.number("bframes") ?? 0
        let keyInterval = settings.isAllIntra ? 1 : settings.number("keyint") ?? 250
        picture = samples + reduced + (width / 16) * (height / 16) * (90 + 30 * bFrames)
        coding = samples + alignedWidth * alignedHeight * (isFastest ? 73 : 69) / 10
        frameEncoder = 1_500_000 + 2 * width * height
        let isHeldBack = keyInterval > 1 && !settings.configuration.pipeline.lowLatency
        let lookahead = isHeldBack ? settings.number("rc-lookahead") ?? settings.lookahead : 0
        firstCoded = lookahead == 0 ? 0 : lookahead + bFrames + 1
        switch keyInterval {
        case ...1: codedCount = 2
        case 2: codedCount = 3
        case 5... where bFrames >= 2: codedCount = 5
        default: codedCount = 4
        }
        // More allocations follow, but it is not certain for which pictures.
        let isLong = keyInterval >= 5 && lookahead > 0
        steady = isLong ? firstCoded + 5 + bFrames + (bFrames > 0 ? 1 : 0) : 0
    }

    /// The memory that is allocated from opening on if one picture is encoded.
    var forOnePicture: Int { Self.opening + picture + coding + frameEncoder }

    /// Returns the memory that is allocated from the picture with this index on, if no picture follows it.
    func needed(forPicture index: Int) -> Int {
        let left = min(index + 1, codedCount) - max(0, index - firstCoded)
        if left > 0 { return picture + left * coding + (index <= firstCoded ? frameEncoder : 0) }
        return index < steady ? picture + coding + Self.slack : Self.slack
    }

    /// Returns the memory that is allocated at the end, after `count` pictures.
    func needed(afterPictures count: Int) -> Int {
        if count == 0 { return 0 }
        if count <= firstCoded { return min(count, codedCount) * coding + frameEncoder }
        return count < steady ? coding + Self.slack : Self.slack
    }

    /// - Throws: `unavailable` if this memory is not available.
    func check(_ byteCount: Int) throws { if let error = lack(of: byteCount) { throw error } }

    /// Returns an error if this memory is not available; else nil.
    func lack(of byteCount: Int) -> VaencError? {
        if MemoryTrial.fits(byteCount) { return nil }
        let megabytes = (byteCount + 999_999) / 1_000_000
        return VaencError(
            .unavailable, "no memory for libx265: it needs another \(megabytes) MB for pictures of \(size)",
            remedy:
                "raise the memory limit (ulimit -v), or encode smaller pictures (`outputSize`)\(isFastest ? "" : " or with `preset` 7")"
        )
    }
}

extension EncoderSettings {
    /// Returns the numeric value of a parameter of the encoder library; nil if it is not set.
    func number(_ name: String) -> Int? {
        parameters.last(where: { $0.name == name }).flatMap { Int($0.value) }
    }
}
