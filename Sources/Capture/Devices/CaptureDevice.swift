public import VideoBase

/// A camera and the capabilities that it reports.
public struct CaptureDevice: Sendable, Hashable {
    /// The path of the device node, for example `/dev/video0`.
    public var path: String
    /// The name of the camera; empty if it could not be queried.
    public var name = ""
    /// The name of the kernel driver.
    public var driver = ""
    /// The bus address, for example `usb-0000:00:14.0-6`.
    public var bus = ""
    /// The reason why nothing can be captured from the camera; nil if it can be used.
    public var why: String?
    /// The formats of the current input.
    public var formats: [CaptureFormat] = []
    /// The inputs of the camera.
    public var inputs: [CaptureInput] = []

    /// Creates a camera without capabilities.
    public init(path: String) { self.path = path }
}

/// An input of a camera or capture card.
public struct CaptureInput: Sendable, Hashable {
    /// The index of the input, for `CaptureRequest.input`.
    public var index: Int
    /// The driver's name for the input.
    public var name: String
    /// Whether pictures come from this input.
    public var isCurrent: Bool
}

/// A pixel format that a camera supports.
public struct CaptureFormat: Sendable, Hashable {
    /// The four-character code of V4L2, for example `YUYV`.
    public var fourCC: String
    /// The driver's description.
    public var description: String
    /// The layout; nil if vaenc does not read it.
    public var layout: CaptureLayout?
    /// Whether libv4l2 converts to this format from a format of the camera.
    public var isEmulated: Bool
    /// The supported sizes; empty if the driver lists none.
    public var sizes: [CaptureSizes]
}

/// A size or a range of sizes, with its frame rates.
public struct CaptureSizes: Sendable, Hashable {
    /// The smallest size.
    public var smallest: VideoSize
    /// The largest size; equal to `smallest` for a single size.
    public var largest: VideoSize
    /// The steps in width and height between the sizes of the range.
    public var step: VideoSize
    /// The frame rates of the largest size in frames per second, in descending order; empty if the driver lists none.
    public var rates: [Rational]
    /// Whether `rates` contains the two ends of a range.
    public var ratesAreRange: Bool

    /// Whether this is a single size.
    public var isDiscrete: Bool { smallest == largest }

    /// Returns the nearest size in the range.
    public func nearest(_ size: VideoSize) -> VideoSize {
        func side(_ requested: Int, low: Int, high: Int, step: Int) -> Int {
            if requested <= low { return low }
            if requested >= high { return high }
            let step = max(step, 1)
            return min(high, low + (requested - low + step / 2) / step * step)
        }
        return VideoSize(
            width: side(size.width, low: smallest.width, high: largest.width, step: step.width),
            height: side(size.height, low: smallest.height, high: largest.height, step: step.height))
    }

    /// Returns the nearest rate, preferably one that is not lower than the requested rate; nil if no rate is listed.
    public func nearest(_ rate: Rational) -> Rational? {
        guard let highest = rates.first, let lowest = rates.last else { return nil }
        if ratesAreRange { return rate.value >= highest.value ? highest : rate.value <= lowest.value ? lowest : rate }
        return rates.last { $0.value >= rate.value * 0.999 } ?? highest
    }
}

/// The memory layout of a camera's pictures.
public enum CaptureLayout: Sendable, Hashable, CustomStringConvertible {
    /// Uncompressed pictures.
    case raw(PixelFormat)
    /// JPEG pictures.
    case mjpeg

    /// The four-character codes of V4L2, beginning with the layouts that cost least to encode.
    static let known: [(fourCC: String, layout: CaptureLayout)] = [
        ("NV12", .raw(.nv12)), ("YU12", .raw(.i420)), ("YV12", .raw(.yv12)), ("YUYV", .raw(.yuyv)), ("UYVY", .raw(.uyvy)),
        ("422P", .raw(.i422)), ("MJPG", .mjpeg), ("JPEG", .mjpeg), ("RGB3", .raw(.rgb24)), ("GREY", .raw(.gray)),
    ]

    /// Creates a layout from the four-character code of V4L2; nil if vaenc does not read it.
    public init?(fourCC: String) {
        guard let layout = Self.known.first(where: { $0.fourCC == fourCC })?.layout else { return nil }
        self = layout
    }

    /// Creates a layout from its name: `mjpeg`, `mjpg`, or the name of a pixel format. Returns nil if vaenc does not
    /// read it.
    public init?(_ name: String) {
        if name == "mjpeg" || name == "mjpg" {
            self = .mjpeg
        } else if let format = PixelFormat(rawValue: name), Self.known.contains(where: { $0.layout == .raw(format) }) {
            self = .raw(format)
        } else {
            return nil
        }
    }

    /// The names of all layouts, without duplicates.
    public static var names: [String] {
        known.map(\.layout.description).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The layout's name, as `names` has it.
    public var description: String {
        switch self {
        case .raw(let format): format.rawValue
        case .mjpeg: "mjpeg"
        }
    }

    /// The preference among layouts that are otherwise equal. The lowest rank is used.
    var rank: Int { Self.known.firstIndex { $0.layout == self } ?? Self.known.count }
}
