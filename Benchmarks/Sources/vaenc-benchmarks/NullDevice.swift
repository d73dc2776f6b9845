import Glibc

/// The null driver (Benchmarks/NullDriver) on a render node without a GPU.
enum NullDevice {
    static let node = "/dev/dri/renderD128"

    /// Returns the folder with the driver, the render node's library and the host tools, which `Benchmarks/run` builds.
    static func folder() throws -> String {
        guard let path = unsafe getenv("VAENC_NULL_DEVICE") else {
            throw Unmeasurable(description: "needs the null driver: start the benchmarks with Benchmarks/run")
        }
        return unsafe String(cString: path)
    }

    /// Returns the environment in which a program finds the driver.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of a coded picture's slices.
    ///   - milliseconds: The time that the device takes for a picture.
    ///   - stats: The file to which the driver appends its counters.
    static func environment(bytes: Int = 1000, milliseconds: Double = 0, stats: String? = nil) throws -> [String: String?] {
        var variables: [String: String?] = [
            "LIBVA_DRIVERS_PATH": try folder(), "LIBVA_DRIVER_NAME": "null", "LIBVA_MESSAGING_LEVEL": "0",
            "LD_PRELOAD": try folder() + "/node.so", "VAENC_NULL_BYTES": "\(bytes)", "VAENC_NULL_MS": "\(milliseconds)", "VAENC_NULL_STATS": stats,
            // GStreamer would prefer an X display to the node.
            "DISPLAY": nil, "VAENC_INPUT_MEMORY": nil,
        ]
        for name in ["KEY_MS", "PITCH", "DERIVE", "SYNC_BUFFER", "REFERENCES", "MEMORY", "NAME", "ENGINE", "TIMES"] {
            variables["VAENC_NULL_" + name] = .some(nil)
        }
        return variables
    }
}
