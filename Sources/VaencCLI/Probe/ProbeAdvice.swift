import VAAPI
import Vaenc

/// Advice for a machine on which no GPU encodes.
enum ProbeAdvice {
    /// Returns the advice; nil if a GPU encodes or another device was requested.
    static func text(_ reports: [DeviceReport], asked: DeviceSelector) -> String? {
        let nodes = reports.filter { $0.kind == .vaapi }
        if asked != .auto || nodes.contains(where: { $0.usable && $0.capabilities.contains(where: \.encodes) }) { return nil }
        let software = reports.first { $0.kind == .software }
        let without =
            if software?.usable == true {
                "Without a GPU: vaenc encode automatically uses libx264 or libx265."
            } else if let software, software.lacksResources, let why = software.why {
                // Nothing needs to be installed.
                "Without a GPU: vaenc encode automatically uses libx264 or libx265, but cannot load them now: \(why)."
            } else {
                "Without a GPU: install libx264 and libx265 (apt-get install libavcodec-extra); "
                    + "vaenc encode then uses them automatically."
            }
        return "With a GPU: \(step(nodes)).\n\(without)"
    }

    private static func step(_ nodes: [DeviceReport]) -> String {
        guard let first = nodes.first else {
            return """
                check that `ls /dev/dri` lists renderD128 (its kernel driver must be loaded; a container needs \
                --device /dev/dri)
                """
        }
        let name = first.path ?? "the device"
        if first.failureCategory == .noPermission {
            return "get permission to open \(name) (`sudo usermod -aG render $USER`, then log in again)"
        }
        return """
            install its VA-API driver (intel-media-va-driver or intel-media-va-driver-non-free for Intel, mesa-va-drivers for AMD), \
            and check the output of `vainfo --display drm --device \(name)`
            """
    }
}
