import Glibc
import Threads
import VideoBase

/// The cameras of this machine.
public enum CaptureDevices {
    /// Returns each node from /dev/video0 to /dev/video255 that captures pictures. Cameras that cannot be used are
    /// included, with the reason. Blocks for at most 3 s for each device; a device that does not respond in this time
    /// is listed as unusable.
    ///
    /// - Throws: `unavailable` if the system cannot start a thread.
    public static func all() throws -> [CaptureDevice] {
        try (0..<256).compactMap { number -> CaptureDevice? in
            let path = "/dev/video\(number)"
            do {
                return try DedicatedThread.run("vaenc-device", atMostNanoseconds: 3_000_000_000) { answer(path) }
                    ?? unusable(path, "it does not respond")
            } catch {
                throw VaencError.noThread("to query \(path)")
            }
        }
    }

    /// Returns the description of a device; nil if the path is not a device that captures pictures.
    private static func answer(_ path: String) -> CaptureDevice? {
        do {
            let node = try VideoNode.reading(path)
            guard var device = try node.identify() else { return nil }
            device.inputs = node.inputs
            device.formats = node.formats
            if device.why == nil, !device.formats.contains(where: { $0.layout != nil }) {
                device.why = "vaenc reads none of its formats"
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
