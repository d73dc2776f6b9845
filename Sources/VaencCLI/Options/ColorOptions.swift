import ArgumentParser
import VideoBase

struct ColorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Color primaries, as an FFmpeg name: bt709, bt2020, … (default: the input's).", valueName: "NAME"))
    var colorPrimaries: String?

    @Option(
        help: ArgumentHelp("Transfer characteristics: bt709, smpte2084, … (default: the input's).", valueName: "NAME"))
    var colorTransfer: String?

    @Option(help: ArgumentHelp("Matrix coefficients: bt709, bt2020nc, … (default: the input's).", valueName: "NAME"))
    var colorMatrix: String?

    @Option(
        help: ArgumentHelp(
            "Range of the samples: limited (tv) or full (pc) (default: the input's).", valueName: "limited|full"))
    var colorRange: String?

    @Option(
        help: ArgumentHelp(
            "Mastering display in x265's syntax: chromaticities in units of 0.00002, luminances in units of 0.0001 "
                + "cd/m² (default: the input's).",
            valueName: "G(x,y)B(x,y)R(x,y)WP(x,y)L(max,min)"))
    var masteringDisplay: String?

    @Option(
        help: ArgumentHelp(
            "Content light level: MaxCLL and MaxFALL in cd/m² (default: the input's).", valueName: "MAX,AVERAGE"))
    var contentLight: String?

    /// Returns the mastering display of the options, or else the input's.
    func display(over input: MasteringDisplay?) throws -> MasteringDisplay? {
        guard let masteringDisplay else { return input }
        guard let display = MasteringDisplay(masteringDisplay) else {
            throw VaencError.usage(
                "--mastering-display \(masteringDisplay) is not valid",
                remedy: "write it as G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)")
        }
        return display
    }

    /// Returns the content light level of the options, or else the input's.
    func light(over input: ContentLight?) throws -> ContentLight? {
        guard let contentLight else { return input }
        guard let light = ContentLight(contentLight) else {
            throw VaencError.usage(
                "--content-light \(contentLight) is not valid", remedy: "write MAX,AVERAGE in cd/m², such as 1000,400")
        }
        return light
    }

    /// Returns the input's color description, overridden by the options.
    func description(over input: ColorDescription) throws -> ColorDescription {
        var color = input
        if let colorPrimaries {
            color.primaries = try Self.code("--color-primaries", name: colorPrimaries, in: Self.primaries)
        }
        if let colorTransfer {
            color.transfer = try Self.code("--color-transfer", name: colorTransfer, in: Self.transfers)
        }
        if let colorMatrix {
            color.matrix = try Self.code("--color-matrix", name: colorMatrix, in: Self.matrices)
        }
        switch colorRange?.lowercased() {
        case nil: break
        case "limited", "tv", "mpeg": color.fullRange = false
        case "full", "pc", "jpeg": color.fullRange = true
        default: throw VaencError.usage("--color-range \(colorRange ?? "") is not a range", remedy: "use limited or full")
        }
        return color
    }

    private static func code(_ option: String, name: String, in table: KeyValuePairs<String, UInt8>) throws -> UInt8 {
        if let found = table.first(where: { $0.key == name.lowercased() }) { return found.value }
        throw VaencError.usage(
            "\(option) \(name) is not known", remedy: "use one of " + table.map(\.key).joined(separator: ", "))
    }

    // ITU-T H.273 tables 2, 3 and 4.
    private static let primaries: KeyValuePairs<String, UInt8> = [
        "bt709": 1, "unknown": 2, "bt470m": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "film": 8, "bt2020": 9,
        "smpte428": 10, "smpte431": 11, "smpte432": 12,
    ]
    private static let transfers: KeyValuePairs<String, UInt8> = [
        "bt709": 1, "unknown": 2, "gamma22": 4, "bt470m": 4, "gamma28": 5, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7,
        "linear": 8, "iec61966-2-4": 11, "iec61966-2-1": 13, "bt2020-10": 14, "bt2020-12": 15, "smpte2084": 16,
        "smpte428": 17, "arib-std-b67": 18,
    ]
    private static let matrices: KeyValuePairs<String, UInt8> = [
        "bt709": 1, "unknown": 2, "fcc": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "bt2020nc": 9, "bt2020c": 10,
    ]
}

extension ColorOptions: PlainOptions {
    mutating func read(_ line: PlainCommandLine) {
        colorPrimaries = line.value("--color-primaries")
        colorTransfer = line.value("--color-transfer")
        colorMatrix = line.value("--color-matrix")
        colorRange = line.value("--color-range")
        masteringDisplay = line.value("--mastering-display")
        contentLight = line.value("--content-light")
    }
}
