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
                "Without a GPU: vaenc encode takes libx264 or libx265 in software by itself."
            } else if let why = software?.why, ["no memory", "no file descriptor"].contains(where: { why.hasPrefix($0) }) {
                // Nothing needs to be installed.
                "Without a GPU: vaenc encode takes libx264 or libx265 in software by itself where it can load them: \(why)."
            } else {
                "Without a GPU: install libx264 and libx265 (apt-get install libavcodec-extra), and vaenc encode takes them by itself."
            }
        return "With a GPU: \(step(nodes)).\n\(without)"
    }

    private static func step(_ nodes: [DeviceReport]) -> String {
        guard let first = nodes.first else {
            return "see that `ls /dev/dri` lists renderD128 (its kernel driver is loaded; a container needs --device /dev/dri)"
        }
        let name = first.path ?? "the device"
        if first.why?.contains("no permission") == true {
            return "let yourself open \(name) (`sudo usermod -aG render $USER`, and log in again)"
        }
        return """
            install its VA-API driver (intel-media-va-driver or intel-media-va-driver-non-free for Intel, mesa-va-drivers for AMD), \
            and see what `vainfo --display drm --device \(name)` says
            """
    }
}
