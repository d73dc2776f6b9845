public import VideoBase

/// The requested settings of a camera.
public struct CaptureRequest: Sendable, Hashable {
    /// The requested size; nil for 1280×720. The nearest supported size is used.
    public var size: VideoSize?
    /// The requested frame rate in frames per second; nil for 30. The nearest supported rate is used.
    public var frameRate: Rational?
    /// The requested layout; nil for the layout that matches the size and rate best.
    public var layout: CaptureLayout?
    /// The index of the requested input; nil for the current input.
    public var input: Int?
    /// The handling of pictures that the encoder is too slow for.
    public var lateFrames = LateFrames.drop
    /// The time without a picture after which the camera has stalled.
    public var stallTimeout = Duration.seconds(5)
    /// The time limit for opening the camera, at least 0.1 seconds.
    public var openTimeout = Duration.seconds(10)

    /// Creates a request with the default settings.
    public init() {}
}

/// The handling of pictures that the encoder is too slow for.
public enum LateFrames: String, Sendable, Hashable, CaseIterable {
    /// Drops the oldest waiting picture and keeps the newest.
    case drop
    /// Keeps all pictures while there are free buffers. After that, the driver drops pictures.
    case keep
}

/// The format, size and rate of a camera that are nearest to a request.
struct FormatChoice: Hashable {
    var format: CaptureFormat
    /// The size of the pictures; nil if the driver lists no sizes. The requested size is then passed to the driver.
    var size: VideoSize?
    /// The frame rate; nil if the driver lists no rates.
    var rate: Rational?

    /// Chooses by these criteria, in this order: the size (the requested one, else the smallest that is not smaller,
    /// else the largest); the rate (not lower than requested, else the highest); formats without conversion by libv4l2;
    /// the layout.
    ///
    /// - Throws: `unavailable` if the camera has no layout that vaenc reads, or not the requested layout.
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
                "the camera \(name) does not deliver \(request.layout?.description ?? "pictures in a layout that vaenc reads")",
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
        let distance = abs(Double(size.width) * Double(size.height) - Double(wantedSize.width) * Double(wantedSize.height))
        let rate = rate?.value ?? wantedRate.value
        let lacks = max(0, wantedRate.value * 0.999 - rate)
        return [
            isSmaller ? 1 : 0, distance, lacks, format.isEmulated ? 1 : 0, Double(format.layout?.rank ?? 99),
            abs(rate - wantedRate.value),
        ]
    }
}
