import Capture
import Vaenc

/// A camera in the output of `vaenc probe --capture --json`.
struct CaptureEntry: Encodable {
    struct Input: Encodable {
        var index: Int
        var name: String
        var current: Bool
    }

    struct Sizes: Encodable {
        var width: Int?
        var height: Int?
        /// The limits and steps of a range of sizes.
        var minWidth: Int?
        var minHeight: Int?
        var maxWidth: Int?
        var maxHeight: Int?
        var stepWidth: Int?
        var stepHeight: Int?
        /// Frames per second, the highest first. For a range, its two ends.
        var rates: [Rational]
        var ratesAreRange: Bool

        init(_ sizes: CaptureSizes) {
            rates = sizes.rates
            ratesAreRange = sizes.ratesAreRange
            if sizes.isDiscrete {
                (width, height) = (sizes.largest.width, sizes.largest.height)
            } else {
                (minWidth, minHeight) = (sizes.smallest.width, sizes.smallest.height)
                (maxWidth, maxHeight) = (sizes.largest.width, sizes.largest.height)
                (stepWidth, stepHeight) = (sizes.step.width, sizes.step.height)
            }
        }
    }

    struct Format: Encodable {
        var fourcc: String
        var description: String
        /// The name that `--input-format` takes; null if vaenc does not read the format.
        var inputFormat: Nullable<String>
        /// Whether libv4l2 converts the format from another one.
        var emulated: Bool
        var sizes: [Sizes]
    }

    var path: String
    var name: String
    var driver: String
    var bus: String
    var usable: Bool
    var why: Nullable<String>
    var inputs: [Input]
    var formats: [Format]

    init(_ device: CaptureDevice) {
        path = device.path
        name = device.name
        driver = device.driver
        bus = device.bus
        usable = device.why == nil
        why = Nullable(device.why)
        inputs = device.inputs.map { Input(index: $0.index, name: $0.name, current: $0.isCurrent) }
        formats = device.formats.map { format in
            Format(
                fourcc: format.fourCC, description: format.description, inputFormat: Nullable(format.layout?.description),
                emulated: format.isEmulated, sizes: format.sizes.map(Sizes.init))
        }
    }
}

/// Formats the cameras as human-readable text: a block for each camera, a line for each group of formats.
enum CaptureTable {
    static func text(_ devices: [CaptureDevice]) -> String {
        if devices.isEmpty { return "\nNo cameras.\n" }
        return devices.map { "\n" + device($0) }.joined()
    }

    private static func device(_ device: CaptureDevice) -> String {
        let label = [device.name, device.driver, device.bus].filter { !$0.isEmpty }.joined(separator: ", ")
        var text = "\(device.path): \(label)\(device.why.map { "\(label.isEmpty ? "" : " ")NOT USABLE: \($0)" } ?? "")\n"
        if device.inputs.count > 1 {
            text += "  inputs " + device.inputs.map { "\($0.index) \($0.name)\($0.isCurrent ? " (current)" : "")" }.joined(separator: ", ") + "\n"
        }
        // Formats with the same sizes share a line.
        var groups: [(sizes: [CaptureSizes], formats: [CaptureFormat])] = []
        for format in device.formats where format.layout != nil {
            if let index = groups.firstIndex(where: { $0.sizes == format.sizes }) {
                groups[index].formats.append(format)
            } else {
                groups.append((format.sizes, [format]))
            }
        }
        for group in groups { text += line(group.formats, group.sizes) }
        let others = device.formats.filter { $0.layout == nil }.map(\.fourCC)
        if !others.isEmpty { text += "  not supported: \(others.joined(separator: " "))\n" }
        return text
    }

    private static func line(_ formats: [CaptureFormat], _ all: [CaptureSizes]) -> String {
        let sizes = all.map { sizes in
            let rates = sizes.rates.map { decimal($0.value, 2) }.joined(separator: sizes.ratesAreRange ? "–" : "/")
            let size = sizes.isDiscrete ? "\(sizes.largest)" : "\(sizes.smallest)–\(sizes.largest)"
            return size + (rates.isEmpty ? "" : "@\(rates)")
        }
        let names = formats.map { format in
            let name = format.layout?.description ?? ""
            return name == format.fourCC.lowercased() ? format.fourCC : "\(format.fourCC) (\(name))"
        }
        return "  \(names.joined(separator: ", "))  \(sizes.joined(separator: " "))\n"
    }
}
