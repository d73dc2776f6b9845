import VideoBase

/// The memory that libx265 takes at least, in bytes, tried before it is asked to take it. It does not check all of its
/// allocations: where one fails, the process ends by SIGSEGV or std::bad_alloc (libx265 199).
///
/// The sizes were measured with libx265 199, and are up to a fifth below what it takes: a run that has enough memory is not
/// refused. It takes a picture with reduced copies when a picture is given, and room for its coding when that begins, so much
/// later where it looks ahead. Pictures that are done with are used again.
struct EncoderMemory: Sendable, Hashable {
    /// For a picture that is given: its samples with their margins, four copies of half the width and height, and costs.
    let picture: Int
    /// For the coding of a picture: the reconstructed samples, and what is known of each block.
    let coding: Int
    /// When the first picture is coded: the structures of the frame encoder.
    let frameEncoder: Int
    /// The index of the first picture before which one may have been coded.
    let firstCoded: Int
    /// Pictures for whose coding room is taken, if so many are given.
    let codedCount: Int
    /// The index of the first picture for which no room is taken any more.
    let steady: Int

    /// When it is opened.
    static let opening = 3_000_000
    /// Tables of a QP that was not used before, and bit streams that grow.
    static let slack = 2_000_000

    private let size: VideoSize
    private let isFastest: Bool

    /// nil for libx264, which checks its allocations.
    init?(_ settings: EncoderSettings) {
        switch settings.library {
        case .x264: return nil
        case .x265: break
        }
        size = settings.codedSize
        isFastest = settings.preset == EncoderSettings.presetNames.count
        let (width, height) = (size.width, size.height)
        let sampleBytes = settings.bufferFormat == .i420p10 ? 2 : 1
        // The largest coding tree unit of the preset, and the margins that libx265 makes of it.
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
        let isHeldBack = keyInterval > 1 && !settings.configuration.lowLatency
        let lookahead = isHeldBack ? settings.number("rc-lookahead") ?? settings.lookahead : 0
        firstCoded = lookahead == 0 ? 0 : lookahead + bFrames + 1
        switch keyInterval {
        case ...1: codedCount = 2
        case 2: codedCount = 3
        case 5... where bFrames >= 2: codedCount = 5
        default: codedCount = 4
        }
        // Further ones, of which it is not certain which pictures take them.
        let isLong = keyInterval >= 5 && lookahead > 0
        steady = isLong ? firstCoded + 5 + bFrames + (bFrames > 0 ? 1 : 0) : 0
    }

    /// What is taken from opening on if one picture is encoded.
    var forOnePicture: Int { Self.opening + picture + coding + frameEncoder }

    /// What is taken from the picture of that index (from 0 on) on, if nothing comes after it.
    func needed(forPicture index: Int) -> Int {
        let left = min(index + 1, codedCount) - max(0, index - firstCoded)
        if left > 0 { return picture + left * coding + (index <= firstCoded ? frameEncoder : 0) }
        return index < steady ? picture + coding + Self.slack : Self.slack
    }

    /// What is taken when nothing comes after so many pictures.
    func needed(afterPictures count: Int) -> Int {
        if count == 0 { return 0 }
        if count <= firstCoded { return min(count, codedCount) * coding + frameEncoder }
        return count < steady ? coding + Self.slack : Self.slack
    }

    /// - Throws: `unavailable` where there are not so many bytes.
    func check(_ byteCount: Int) throws { if let error = lack(of: byteCount) { throw error } }

    /// The error where there are not so many bytes; else nil.
    func lack(of byteCount: Int) -> VaencError? {
        if MemoryTrial.fits(byteCount) { return nil }
        let megabytes = (byteCount + 999_999) / 1_000_000
        return VaencError(
            .unavailable, "no memory for libx265: with pictures of \(size) it takes another \(megabytes) MB",
            remedy:
                "raise the limit of memory (ulimit -v), or encode smaller pictures (`outputSize`)\(isFastest ? "" : " or with `preset` 7")"
        )
    }
}

extension EncoderSettings {
    /// The number that a setting of the encoder library has; nil where it is not set.
    fileprivate func number(_ name: String) -> Int? {
        parameters.last(where: { $0.name == name }).flatMap { Int($0.value) }
    }
}
