import DecodeSession
import LibAV
import VAAPI
import VideoBase

/// Has the device that decodes an input scale it too, and keeps account of where pictures were scaled. One thread at a time.
final class InputScaling {
    private let output: DeviceScaler.Output
    private var scaler: DeviceScaler?
    private var failures = 0
    private(set) var scaled = 0
    /// Why a picture was not scaled on the device, the first time.
    private(set) var refusal: String?

    /// Failures in a row after which the device is left alone.
    private static let patience = 3

    init(_ output: DeviceScaler.Output) { self.output = output }

    /// Has the processor made before it is needed.
    ///
    /// - Throws: why there is none.
    func prepare(on device: DecodeDevice) throws { scaler = try DeviceScaler(device, output) }

    /// The picture as it is to be, on the device; nil where it has to be scaled in memory.
    func buffer(of picture: DecodedPicture, _ parts: FittedParts, on device: DecodeDevice) -> SurfaceBuffer? {
        guard failures < Self.patience else { return nil }
        do {
            // The device may have been made anew.
            if scaler?.device !== device { try prepare(on: device) }
            let buffer = try scaler?.scale(picture, parts)
            failures = 0
            if buffer != nil { scaled += 1 }
            return buffer
        } catch {
            failures += 1
            refusal = refusal ?? "\(error)"
            return nil
        }
    }
}
