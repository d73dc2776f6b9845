import Glibc
import VideoBase

/// The cameras of this machine.
public enum CaptureDevices {
    /// Every node of /dev/video0 to 255 that captures pictures, also those that cannot be used, with why. Blocks: a device
    /// that does not answer within 3 s is listed as such.
    public static func all() -> [CaptureDevice] {
        (0..<256).compactMap { number in
            let path = "/dev/video\(number)"
            return OwnThread.run(atMostNanoseconds: 3_000_000_000) { answer(path) }
                ?? unusable(path, "it does not answer")
        }.compactMap { $0 }
    }

    /// nil: nothing there that captures.
    private static func answer(_ path: String) -> CaptureDevice? {
        do {
            let node = try VideoNode.reading(path)
            guard var device = try node.identify() else { return nil }
            device.inputs = node.inputs
            device.formats = node.formats
            if device.why == nil, !device.formats.contains(where: { $0.layout != nil }) {
                device.why = "it has no format that vaenc reads"
            }
            return device
        } catch {
            return error.category == .noInput ? nil : unusable(path, error.message)
        }
    }

    private static func unusable(_ path: String, _ why: String) -> CaptureDevice {
        var device = CaptureDevice(path: path)
        device.why = why
        return device
    }
}
