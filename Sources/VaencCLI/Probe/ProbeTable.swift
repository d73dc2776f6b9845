import VAAPI
import Vaenc

/// Formats the reports as human-readable text: a block for each device, a row for each profile and entry point.
enum ProbeTable {
    /// Returns the text.
    ///
    /// - Parameter verified: The results for each report's capabilities, with `--verify`.
    static func text(
        _ reports: [DeviceReport], asked: DeviceSelector, everything: Bool, verified: [[[TrialResult]]]?
    ) -> String {
        var text = reports.enumerated().map { index, report in
            device(report, everything: everything) + (verified.map { trials(report, $0[index]) } ?? "")
        }.joined(separator: "\n")
        let choice = Devices.defaultChoice(among: reports, asked: asked)
        text += "\nDefault: \(choice.device ?? "nothing"), \(choice.codec.standardName) (\(OptionNames.translate(choice.why)))\n"
        if let advice = ProbeAdvice.text(reports, asked: asked) { text += advice + "\n" }
        return text
    }

    private static func device(_ report: DeviceReport, everything: Bool) -> String {
        let name = report.path ?? report.kind.rawValue
        var text = name + (report.pci.map { " (PCI \($0))" } ?? "") + ": "
        text += report.usable ? "" : "NOT USABLE: \(OptionNames.translate(report.why ?? ""))\n"
        if let driver = report.driver {
            text += (report.usable ? "" : "  ") + driver + (report.libva.map { ", VA-API \($0)" } ?? "") + "\n"
        }
        let encoders = report.capabilities.filter(\.encodes)
        if !encoders.isEmpty {
            let head = [
                "encodes", "entry point", "rate control", "sizes", "bits", "refs", "B", "slices", "quality", "ROI", "refresh", "packed headers",
                "memory",
            ]
            text += rows([head] + encoders.map(row))
        }
        let decoders = report.capabilities.filter(\.decodes)
        if !decoders.isEmpty {
            text += "  decodes " + decoders.map(Self.name).joined(separator: ", ") + "\n"
        }
        let others = report.capabilities.filter { !$0.encodes && !$0.decodes }
        if !others.isEmpty {
            text +=
                "  also "
                + others.map { $0.profile == .none ? $0.entryPoint.shortName : "\(Self.name($0)) \($0.entryPoint.shortName)" }
                .joined(separator: ", ") + "\n"
        }
        return everything ? text + attributes(report) : text
    }

    /// Returns a line for each profile and entry point with its working modes, and a line for each mode that failed.
    private static func trials(_ report: DeviceReport, _ verified: [[TrialResult]]) -> String {
        var text = ""
        for (capability, trials) in zip(report.capabilities, verified) where capability.encodes {
            text += "  tried \(name(capability)) \(capability.entryPoint.shortName): "
            let working = trials.filter { $0.failure == nil }.map(\.mode.description)
            text +=
                trials.isEmpty
                ? "nothing: vaenc does not encode it\n" : working.isEmpty ? "nothing works\n" : working.joined(separator: " ") + " ok\n"
            for trial in trials {
                if let failure = trial.failure { text += "    \(trial.mode) FAILED: \(failure)\n" }
            }
        }
        return text
    }

    private static func row(_ capability: Capability) -> [String] {
        func size(_ width: Int?, _ height: Int?) -> String {
            guard let width, let height else { return "?" }
            return "\(width)×\(height)"
        }
        return [
            name(capability), capability.entryPoint.shortName,
            capability.rateControl.map { $0.rawValue.uppercased() }.joined(separator: " "),
            "\(size(capability.minWidth, capability.minHeight))–\(size(capability.maxWidth, capability.maxHeight))",
            capability.bitDepths.map(String.init).joined(separator: " "),
            capability.maxReferences.map { "\($0.l0)/\($0.l1)" } ?? "?", capability.bFrames ? "yes" : "no",
            capability.maxSlices.map(String.init) ?? "?", capability.qualityLevels.map(String.init) ?? "-",
            capability.maxRegions > 0 ? String(capability.maxRegions) : "-",
            capability.intraRefresh.names.isEmpty ? "-" : capability.intraRefresh.names.joined(separator: " "),
            capability.packedHeaders.names.isEmpty ? "none" : capability.packedHeaders.names.joined(separator: " "),
            capability.memoryTypes.names.joined(separator: " "),
        ]
    }

    private static func attributes(_ report: DeviceReport) -> String {
        var text = ""
        for capability in report.capabilities {
            text += "  \(name(capability)) \(capability.entryPoint.shortName)\n"
            for attribute in capability.attributeValues {
                let hex = "0x" + String(attribute.value, radix: 16)
                text += "    \(attribute.name) = \(hex)\(attribute.meaning.isEmpty ? "" : "  " + attribute.meaning.joined(separator: " "))\n"
            }
        }
        return text
    }

    /// Returns the codec and the profile: `H.264 High`; `video` for an entry point that has no codec.
    static func name(_ capability: Capability) -> String {
        let profile = capability.profile
        guard let codec = profile.codecName else { return profile == .none ? "video" : profile.shortName }
        return "\(capability.codec?.standardName ?? codec.uppercased()) \(profile.shortName)"
    }

    private static func rows(_ rows: [[String]]) -> String {
        let widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            "  "
                + row.enumerated().map { $1 + String(repeating: " ", count: widths[$0] - $1.count) }
                .joined(separator: "  ").trimmingTrailingSpaces + "\n"
        }.joined()
    }
}
