import LibAV
import VideoBase

/// The container that a copy writes.
struct RemuxOutput {
    let muxer: Muxer
    private let muxerOptions: [(name: String, value: String)]
    /// Whether the output states when each picture is shown.
    let storesPresentation: Bool
    /// The time code of the input's first picture, if the output can store it; nil if there is none.
    private let timeCode: String?
    /// Whether the header is written. The times of chapters depend on the first packet's time, so the header waits for
    /// it.
    private var hasHeader = false

    /// - Parameter codec: The codec of the pictures.
    init(_ format: OutputFormat, _ plan: RemuxPlan, to destination: any SinkDestination, codec: VideoCodec) throws {
        let first = plan.tracks.first?.codec
        muxer = try Muxer(format: format.holdsTracks ? format.muxerName : first?.rawValue ?? format.muxerName, destination)
        muxerOptions = format.muxerOptions(
            codec,
            isFragmented: format == .fmp4 || format.hasSampleEntries && !destination.isSeekable,
            isSeekable: destination.isSeekable, survivesKill: false,
            segments: destination as? SegmentFolder)
        timeCode = MetadataSupport(format, codec: first).holdsTimeCode ? plan.timeCode : nil
        storesPresentation = format.holdsTracks && format.isLengthPrefixed(codec)
    }

    /// Leaves out the time code, because the copy begins with another picture. Returns the difference; nil if there is no
    /// time code.
    func omitTimeCode() -> EffectiveEntry? {
        guard let timeCode else { return nil }
        muxer.omitsTimeCode = true
        return EffectiveEntry(option: "time code", asked: timeCode, used: "none", why: MediaMetadata.timeCodeReason)
    }

    /// Writes the header if it is not written yet.
    mutating func begin(copying input: InputContext, _ range: RemuxRange) throws {
        if hasHeader { return }
        try muxer.copyFile(from: input, origin: range.origin, end: range.end)
        try muxer.writeHeader(options: muxerOptions, copies: true)
        hasHeader = true
    }
}
