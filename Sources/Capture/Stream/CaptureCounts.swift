public import VideoBase

/// What became of a camera's pictures.
public struct CaptureCounts: Sendable, Hashable, Codable {
    /// That came from the driver whole.
    public var captured = 0
    /// That the driver left out, as its numbers say.
    public var droppedByDriver = 0
    /// Whole ones that were dropped since the encoder was too slow for them.
    public var late = 0
    /// That the driver marked as faulty, that were too short, or that do not decode.
    public var damaged = 0
    /// Whole ones that nobody wanted: before the first and after the last of a recording, and around a switch of cameras.
    public var unused = 0
    /// Times of the driver's that did not grow, and were replaced.
    public var timesReplaced = 0

    public init() {}
}

/// Why no more pictures come from a camera.
public enum CaptureEnd: Sendable, Hashable {
    /// As it was told.
    case stopped
    /// It was pulled out, or its driver went away.
    case unplugged
    /// Nothing came for so many seconds.
    case stalled(seconds: Double)
    case failed(VaencError)

    /// `stopped`, `unplugged`, `stalled`, `failed`: for reports.
    public var name: String {
        switch self {
        case .stopped: "stopped"
        case .unplugged: "unplugged"
        case .stalled: "stalled"
        case .failed: "failed"
        }
    }

    /// For a person; nil where it ended as it was told.
    public func error(_ path: String) -> VaencError? {
        switch self {
        case .stopped: nil
        case .unplugged: VaencError(.deviceFailed, "the camera \(path) was unplugged", remedy: "look at its cable")
        case .stalled(let seconds):
            VaencError(
                .deviceFailed, "the camera \(path) gave nothing for \(seconds.formatted) s",
                remedy: "unplug it and plug it in again")
        case .failed(let error): error
        }
    }
}

extension Double {
    /// Without zeros behind the point.
    fileprivate var formatted: String { self == rounded() ? "\(Int(clamping: self))" : "\(self)" }
}

/// What a camera turned out to give.
public struct CaptureInfo: Sendable, Hashable {
    public var path: String
    public var name: String
    public var driver: String
    public var bus: String
    public var layout: CaptureLayout
    /// libv4l2 converts from a layout that vaenc does not read.
    public var isConverted: Bool
    public var size: VideoSize
    /// nil where the driver does not say.
    public var frameRate: Rational?
    public var color: ColorDescription
    public var buffers: Int
    /// Pictures carry a DMA-BUF.
    public var exportsBuffers: Bool

    public init(path: String, layout: CaptureLayout, size: VideoSize) {
        (self.path, self.layout, self.size) = (path, layout, size)
        (name, driver, bus) = ("", "", "")
        (isConverted, exportsBuffers) = (false, false)
        color = .unspecified
        buffers = 0
    }
}
