import DecodeSession
import LibAV
import MediaFiles
import VAAPI
import VideoBase

/// Scales an input's pictures on the device that decodes them, and counts them. One thread at a time.
final class InputScaling {
    private let output: DeviceScaler.Output
    /// Whether scaled pictures are copied into memory, where a fault of the device cannot affect them.
    private let readsBack: Bool
    private var scaler: DeviceScaler?
    private var failures = 0
    private(set) var scaled = 0
    /// The reason why a picture was not scaled on the device, the first time.
    private(set) var rejectionReason: String?

    /// The number of consecutive failures after which the device is no longer used.
    private static let failureLimit = 3

    init(_ output: DeviceScaler.Output, readsBack: Bool = false) { (self.output, self.readsBack) = (output, readsBack) }

    /// Returns a scaler for pictures that are needed in memory in another size than the decoded one; nil if no scaling
    /// is needed, or if the samples must be converted in memory. If the device has no video processor, the pictures are
    /// scaled in memory, and `rejectionReason` has the reason.
    static func intoMemory(_ info: SourceInfo, from device: DecodeDevice) -> InputScaling? {
        guard info.size != info.nativeSize, [.i420, .nv12, .i420p10, .p010].contains(info.nativeFormat) else { return nil }
        let scaling = InputScaling(
            DeviceScaler.Output(
                size: info.size, surface: info.size.aligned(to: 2), format: info.bitDepth > 8 ? .p010 : .nv12, color: info.color),
            readsBack: true)
        do { try scaling.prepare(on: device) } catch {
            scaling.rejectionReason = "\(error)"
            scaling.failures = failureLimit
        }
        return scaling
    }

    /// Creates the video processor before it is needed.
    ///
    /// - Throws: The reason why there is none.
    func prepare(on device: DecodeDevice) throws { scaler = try DeviceScaler(device, output) }

    /// Returns the picture scaled on the device; nil if it must be scaled in memory.
    func buffer(of picture: DecodedPicture, _ parts: FittedParts, on device: DecodeDevice) -> (any PixelBuffer)? {
        guard failures < Self.failureLimit else { return nil }
        do {
            // The device may have been reinitialized.
            if scaler?.device !== device { try prepare(on: device) }
            var buffer: (any PixelBuffer)? = try scaler?.scale(picture, parts)
            if readsBack { buffer = try buffer.map(copy) }
            failures = 0
            if buffer != nil { scaled += 1 }
            return buffer
        } catch {
            failures += 1
            rejectionReason = rejectionReason ?? "\(error)"
            return nil
        }
    }

    private func copy(_ scaled: any PixelBuffer) throws -> any PixelBuffer {
        let copy = try SystemPixelBuffer(format: scaled.format, size: scaled.size)
        // SAFETY: both pictures are mapped while the closures run, and have one size and format.
        try unsafe scaled.withUnsafePlanes { source in
            try unsafe copy.withUnsafePlanes { unsafe try PixelConverter(color: output.color).convert(source, to: $0) }
        }
        return copy
    }
}
