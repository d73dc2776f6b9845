public import VideoBase

/// The numbers of a camera's pictures, by result.
public struct CaptureCounts: Sendable, Hashable, Codable {
    /// The number of complete pictures that the driver delivered.
    public var captured = 0
    /// The number of pictures that the driver dropped, according to its sequence numbers.
    public var droppedByDriver = 0
    /// The number of complete pictures that were dropped because the encoder was too slow.
    public var late = 0
    /// The number of pictures that the driver marked as faulty, that were too short, or that cannot be decoded.
    public var damaged = 0
    /// The number of complete pictures that were not needed: before the beginning or after the end of a recording, or
    /// around a switch of cameras.
    public var unused = 0
    /// The number of capture times that did not increase and were replaced.
    public var timesReplaced = 0

    /// Creates counts that are all 0.
    public init() {}
}

/// The reason why a camera delivers no more pictures.
public enum CaptureEnd: Sendable, Hashable {
    /// The camera was stopped as requested.
    case stopped
    /// The camera was unplugged, or its driver was unloaded.
    case unplugged
    /// No picture arrived for this time.
    case stalled(after: Duration)
    /// A call failed.
    case failed(VaencError)

    /// The name of the case for reports: `stopped`, `unplugged`, `stalled` or `failed`.
    public var name: String {
        switch self {
        case .stopped: "stopped"
        case .unplugged: "unplugged"
        case .stalled: "stalled"
        case .failed: "failed"
        }
    }

    /// Returns an error for the user; nil if the camera was stopped as requested.
    ///
    /// - Parameter path: The path of the camera.
    public func error(_ path: String) -> VaencError? {
        switch self {
        case .stopped: nil
        case .unplugged: VaencError(.deviceFailed, "the camera \(path) was unplugged", remedy: "check its cable")
        case .stalled(let time):
            VaencError(
                .deviceFailed, "the camera \(path) delivered no frame for \(time.seconds.formatted) s",
                remedy: "unplug it and plug it in again")
        case .failed(let error): error
        }
    }
}

extension Double {
    /// The number as text, without zeros after the decimal point.
    fileprivate var formatted: String { self == rounded() ? "\(Int(clamping: self))" : "\(self)" }
}

/// The properties of an open camera and its pictures.
public struct CaptureInfo: Sendable, Hashable {
    /// The path of the device node.
    public var path: String
    /// The name of the camera.
    public var name: String
    /// The name of the kernel driver.
    public var driver: String
    /// The bus address.
    public var bus: String
    /// The memory layout of the pictures.
    public var layout: CaptureLayout
    /// Whether libv4l2 converts the pictures from a layout that vaenc does not read.
    public var isConverted: Bool
    /// The size of the pictures.
    public var size: VideoSize
    /// The frame rate in frames per second; nil if the driver does not report it.
    public var frameRate: Rational?
    /// The color description of the pictures.
    public var color: ColorDescription
    /// The number of buffers.
    public var buffers: Int
    /// Whether pictures have a DMA-BUF.
    public var exportsBuffers: Bool

    /// Creates a description with default values for the other properties.
    public init(path: String, layout: CaptureLayout, size: VideoSize) {
        (self.path, self.layout, self.size) = (path, layout, size)
        (name, driver, bus) = ("", "", "")
        (isConverted, exportsBuffers) = (false, false)
        color = .unspecified
        buffers = 0
    }
}
