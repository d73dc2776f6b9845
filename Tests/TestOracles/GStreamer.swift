internal import Glibc

/// The environment of GStreamer's programs on the driver.
public enum GStreamer {
    /// The plugins that the tests use. The registry of all plugins would take most of the time of a short run.
    private static let plugins = [
        "coreelements", "rawparse", "typefindfunctions", "va", "vaapi", "videoconvert", "videoconvertscale",
        "videoparsersbad", "videoscale",
    ]

    /// Returns an environment with a registry in `folder`. A registry is not shared between runs: the plugins va and
    /// vaapi offer what the driver supported when the registry was written.
    ///
    /// - Throws: `Files.Failure` if GStreamer's plugins are not installed.
    public static func environment(in folder: String) throws -> [String: String?] {
        let folders = Files.list("/usr/lib").map { "/usr/lib/\($0)/gstreamer-1.0" }
        let own = folder + "/plugins"
        guard let system = folders.first(where: { Files.exists($0 + "/libgstcoreelements.so") }),
            unsafe mkdir(own, 0o755) == 0
        else { throw Files.Failure(description: "no plugins of GStreamer in /usr/lib/*/gstreamer-1.0") }
        for name in plugins.map({ "libgst\($0).so" }) where Files.exists("\(system)/\(name)") {
            guard unsafe symlink("\(system)/\(name)", "\(own)/\(name)") == 0 else {
                throw Files.Failure(description: "cannot make \(own)/\(name)")
            }
        }
        return [
            "GST_PLUGIN_SYSTEM_PATH_1_0": own, "GST_REGISTRY": folder + "/registry", "GST_REGISTRY_FORK": "no",
            "GST_VAAPI_ALL_DRIVERS": "1", "GST_VA_ALL_DRIVERS": "1",
        ]
    }
}
