public import VideoBase

/// What is wanted of a camera.
public struct CaptureRequest: Sendable, Hashable {
    /// nil: 1280×720, or what is nearest to it.
    public var size: VideoSize?
    /// nil: 30, or what is nearest to it.
    public var frameRate: Rational?
    /// nil: the one that does the size and the rate best.
    public var layout: CaptureLayout?
    /// The socket; nil: the one that is chosen.
    public var input: Int?
    public var lateFrames = LateFrames.drop
    /// The camera has stalled when nothing came for so long.
    public var stallSeconds = 5.0
    /// A camera that is not ready by then fails.
    public var openSeconds = 10.0

    public init() {}
}

/// What becomes of pictures that the encoder is too slow for.
public enum LateFrames: String, Sendable, Hashable, CaseIterable {
    /// The oldest that waits goes, the newest stays.
    case drop
    /// All are kept as long as there are buffers; then the driver drops.
    case keep
}

/// The nearest that a camera has.
struct FormatChoice: Hashable {
    var format: CaptureFormat
    /// nil: the driver lists no sizes, and is asked for the wanted one.
    var size: VideoSize?
    /// nil: the driver lists no rates.
    var rate: Rational?

    /// The size counts most (as wanted; or else the smallest that is not smaller; or else the largest), then the rate
    /// (as high as wanted; or else the highest), then what libv4l2 need not convert, then the layout.
    ///
    /// - Throws: `unavailable` where the camera has nothing that vaenc reads, or not the wanted layout.
    init(_ formats: [CaptureFormat], _ request: CaptureRequest, name: String) throws(VaencError) {
        let size = request.size ?? VideoSize(width: 1280, height: 720)
        let rate = request.frameRate ?? Rational(30)
        let usable = formats.filter { format in
            guard let layout = format.layout else { return false }
            return request.layout == nil || request.layout == layout
        }
        let choices = usable.flatMap { format in
            format.sizes.isEmpty
                ? [FormatChoice(format: format, size: nil, rate: nil)]
                : format.sizes.map { FormatChoice(format: format, size: $0.nearest(size), rate: $0.nearest(rate)) }
        }
        guard let best = choices.min(by: { $0.cost(size, rate).lexicographicallyPrecedes($1.cost(size, rate)) }) else {
            let names = formats.compactMap(\.layout?.description).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            throw VaencError(
                .unavailable,
                "the camera \(name) gives no \(request.layout?.description ?? "pictures in a layout that vaenc reads")",
                remedy: names.isEmpty ? "use another camera" : "use `CaptureRequest.layout` \(names.joined(separator: " or "))")
        }
        self = best
    }

    private init(format: CaptureFormat, size: VideoSize?, rate: Rational?) {
        (self.format, self.size, self.rate) = (format, size, rate)
    }

    private func cost(_ wantedSize: VideoSize, _ wantedRate: Rational) -> [Double] {
        let size = size ?? wantedSize
        let isSmaller = size.width < wantedSize.width || size.height < wantedSize.height
        let distance = abs(size.width * size.height - wantedSize.width * wantedSize.height)
        let rate = rate?.value ?? wantedRate.value
        let lacks = max(0, wantedRate.value * 0.999 - rate)
        return [
            isSmaller ? 1 : 0, Double(distance), lacks, format.isEmulated ? 1 : 0, Double(format.layout?.rank ?? 99),
            abs(rate - wantedRate.value),
        ]
    }
}
