public import VideoBase

/// A camera, and what it says that it can do.
public struct CaptureDevice: Sendable, Hashable {
    /// `/dev/video0`
    public var path: String
    /// What a person calls it; empty where it could not be asked.
    public var name = ""
    public var driver = ""
    /// Where it is plugged in: `usb-0000:00:14.0-6`.
    public var bus = ""
    /// Why nothing can be captured from it; nil where something can.
    public var why: String?
    /// Of the input that is chosen.
    public var formats: [CaptureFormat] = []
    public var inputs: [CaptureInput] = []

    public init(path: String) { self.path = path }
}

/// A socket of a camera or capture card.
public struct CaptureInput: Sendable, Hashable {
    public var index: Int
    public var name: String
    /// The one that pictures come from.
    public var isCurrent: Bool
}

/// A layout in which a camera gives pictures.
public struct CaptureFormat: Sendable, Hashable {
    /// V4L2's four characters: `YUYV`.
    public var fourCC: String
    /// The driver's words.
    public var description: String
    /// nil: one that vaenc does not read.
    public var layout: CaptureLayout?
    /// Not the camera's own: libv4l2 makes it from another.
    public var isEmulated: Bool
    /// Empty where the driver lists none.
    public var sizes: [CaptureSizes]
}

/// A size, or a range of sizes, and the rates that it comes at.
public struct CaptureSizes: Sendable, Hashable {
    public var smallest: VideoSize
    public var largest: VideoSize
    /// From one size of the range to the next.
    public var step: VideoSize
    /// Frames per second, the highest first; of the largest size. Empty where the driver lists none.
    public var rates: [Rational]
    /// `rates` are the ends of a range.
    public var ratesAreRange: Bool

    public var isDiscrete: Bool { smallest == largest }

    /// The nearest size of the range.
    public func nearest(_ size: VideoSize) -> VideoSize {
        func side(_ wanted: Int, _ low: Int, _ high: Int, _ step: Int) -> Int {
            if wanted <= low { return low }
            if wanted >= high { return high }
            let step = max(step, 1)
            return min(high, low + (wanted - low + step / 2) / step * step)
        }
        return VideoSize(
            width: side(size.width, smallest.width, largest.width, step.width),
            height: side(size.height, smallest.height, largest.height, step.height))
    }

    /// The rate nearest to the wanted one, at least as high where there is one; nil where none is listed.
    public func nearest(_ rate: Rational) -> Rational? {
        guard let highest = rates.first, let lowest = rates.last else { return nil }
        if ratesAreRange { return rate.value >= highest.value ? highest : rate.value <= lowest.value ? lowest : rate }
        return rates.last { $0.value >= rate.value * 0.999 } ?? highest
    }
}

/// How a camera's pictures lie in memory.
public enum CaptureLayout: Sendable, Hashable, CustomStringConvertible {
    case raw(PixelFormat)
    case mjpeg

    /// V4L2's names, those that cost least to encode first.
    static let known: [(fourCC: String, layout: CaptureLayout)] = [
        ("NV12", .raw(.nv12)), ("YU12", .raw(.i420)), ("YV12", .raw(.yv12)), ("YUYV", .raw(.yuyv)), ("UYVY", .raw(.uyvy)),
        ("422P", .raw(.i422)), ("MJPG", .mjpeg), ("JPEG", .mjpeg), ("RGB3", .raw(.rgb24)), ("GREY", .raw(.gray)),
    ]

    public init?(fourCC: String) {
        guard let layout = Self.known.first(where: { $0.fourCC == fourCC })?.layout else { return nil }
        self = layout
    }

    /// `mjpeg`, or a pixel format's name.
    public init?(_ name: String) {
        if name == "mjpeg" || name == "mjpg" {
            self = .mjpeg
        } else if let format = PixelFormat(rawValue: name), Self.known.contains(where: { $0.layout == .raw(format) }) {
            self = .raw(format)
        } else {
            return nil
        }
    }

    /// All names, for messages.
    public static var names: [String] {
        known.map(\.layout.description).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    public var description: String {
        switch self {
        case .raw(let format): format.rawValue
        case .mjpeg: "mjpeg"
        }
    }

    /// Which of two that do equally well is taken: the lower.
    var rank: Int { Self.known.firstIndex { $0.layout == self } ?? Self.known.count }
}
