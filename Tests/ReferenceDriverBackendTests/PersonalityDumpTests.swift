import CVA
import Glibc
@testable import ReferenceDriver
import TestOracles
import Testing

/// Compares personalities row by row with the real drivers' own answers, if these are available: the output of `vainfo
/// -a`, and raw attribute values. They are not part of the project: SHARED names the folder that contains
/// `capabilities`; the default is `../shared` beside the checkout.
@Suite(.enabled(if: PersonalityDumps.folder != nil, "needs the real drivers' answers")) struct PersonalityDumpTests {
    @Test func personalitiesMatchTheDumps() throws {
        // A dump of a device that encodes nothing is no personality.
        let dumps = try PersonalityDumps.names().filter { name in
            try PersonalityDumps.printed(name).keys.contains { $0.contains("VAEntrypointEnc") }
        }
        #expect(Set(dumps) == Set(Personality.names) && dumps.count == 37)
    }

    /// Compares every row that vainfo printed, for every profile and entry point, and allows no further entry point.
    @Test func answersMatchVainfosOutput() throws {
        var rows = 0
        for name in Personality.names {
            let printed = try PersonalityDumps.printed(name)
            let answers = PersonalityDumps.answers(of: name)
            #expect(Set(answers.keys) == Set(printed.keys), "\(name)")
            for (entry, expected) in printed {
                for (attribute, value) in expected {
                    rows += 1
                    #expect(answers[entry]?[attribute] == value, "\(name) \(entry) \(attribute)")
                }
            }
        }
        #expect(rows > 2300, "\(rows) rows")
    }

    @Test func answersMatchRawAttributes() throws {
        var values = 0
        for name in Personality.names {
            let answers = PersonalityDumps.answers(of: name)
            for (entry, expected) in try PersonalityDumps.raw(name) {
                for (attribute, value) in expected {
                    values += 1
                    #expect(answers[entry]?[attribute] == value, "\(name) \(entry) \(attribute)")
                }
            }
        }
        #expect(values > 450, "\(values) values")
    }
}

/// The folder of dumps, read without the script that generated the driver's table.
enum PersonalityDumps {
    typealias Rows = [String: UInt32]

    static let folder: String? = {
        let given = getenv("SHARED").map { String(cString: $0) }
        let candidates = [given, Checkout.root + "/../shared", Checkout.root + "/../../shared"].compactMap { $0 }
        return candidates.map { $0 + "/capabilities" }.first { access($0, R_OK) == 0 }
    }()

    private static func text(_ file: String) throws -> [Substring] {
        String(decoding: try Files.read((folder ?? "") + "/" + file), as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
    }

    static func names() throws -> [String] {
        Files.list(folder ?? "").filter { $0.hasSuffix(".txt") && !$0.hasPrefix("attributes-") }.map {
            String($0.dropLast(4))
        }
    }

    private static let entryNames: [String: (VAProfile, VAEntrypoint)] = {
        var names: [String: (VAProfile, VAEntrypoint)] = [:]
        for (profile, profileName) in [
            (VAProfileH264ConstrainedBaseline, "VAProfileH264ConstrainedBaseline"),
            (VAProfileH264Main, "VAProfileH264Main"), (VAProfileH264High, "VAProfileH264High"),
            (VAProfileHEVCMain, "VAProfileHEVCMain"), (VAProfileHEVCMain10, "VAProfileHEVCMain10"),
        ] {
            names[profileName + "/VAEntrypointVLD"] = (profile, VAEntrypointVLD)
            names[profileName + "/VAEntrypointEncSlice"] = (profile, VAEntrypointEncSlice)
            names[profileName + "/VAEntrypointEncSliceLP"] = (profile, VAEntrypointEncSliceLP)
        }
        names["VAProfileNone/VAEntrypointVideoProc"] = (VAProfileNone, VAEntrypointVideoProc)
        return names
    }()

    private static let attributes: [String: VAConfigAttribType] = [
        "DecSliceMode": VAConfigAttribDecSliceMode, "DecProcessing": VAConfigAttribDecProcessing,
        "RTFormat": VAConfigAttribRTFormat, "RateControl": VAConfigAttribRateControl,
        "EncPackedHeaders": VAConfigAttribEncPackedHeaders, "EncInterlaced": VAConfigAttribEncInterlaced,
        "EncMaxRefFrames": VAConfigAttribEncMaxRefFrames, "EncMaxSlices": VAConfigAttribEncMaxSlices,
        "EncSliceStructure": VAConfigAttribEncSliceStructure, "MaxPictureWidth": VAConfigAttribMaxPictureWidth,
        "MaxPictureHeight": VAConfigAttribMaxPictureHeight, "EncQualityRange": VAConfigAttribEncQualityRange,
        "EncQuantization": VAConfigAttribEncQuantization, "EncIntraRefresh": VAConfigAttribEncIntraRefresh,
        "EncROI": VAConfigAttribEncROI, "EncRateControlExt": VAConfigAttribEncRateControlExt,
        "EncDirtyRect": VAConfigAttribEncDirtyRect, "MaxFrameSize": VAConfigAttribMaxFrameSize,
        "EncParallelRateControl": VAConfigAttribEncParallelRateControl,
        "EncHEVCFeatures": VAConfigAttribEncHEVCFeatures, "EncHEVCBlockSizes": VAConfigAttribEncHEVCBlockSizes,
    ]

    /// The words that vainfo prints for bits, as va.h defines them.
    private static let bits: [String: Int32] = [
        "VA_DEC_SLICE_MODE_NORMAL": VA_DEC_SLICE_MODE_NORMAL, "VA_DEC_SLICE_MODE_BASE": VA_DEC_SLICE_MODE_BASE,
        "VA_DEC_PROCESSING_NONE": VA_DEC_PROCESSING_NONE, "VA_DEC_PROCESSING": VA_DEC_PROCESSING,
        "VA_RT_FORMAT_YUV400": VA_RT_FORMAT_YUV400, "VA_RT_FORMAT_YUV411": VA_RT_FORMAT_YUV411,
        "VA_RT_FORMAT_YUV420": VA_RT_FORMAT_YUV420, "VA_RT_FORMAT_YUV422": VA_RT_FORMAT_YUV422,
        "VA_RT_FORMAT_YUV422_10": VA_RT_FORMAT_YUV422_10, "VA_RT_FORMAT_RGB16": VA_RT_FORMAT_RGB16,
        "VA_RT_FORMAT_RGBP": VA_RT_FORMAT_RGBP,
        "VA_RT_FORMAT_YUV444_10": VA_RT_FORMAT_YUV444_10, "VA_RT_FORMAT_YUV420_12": VA_RT_FORMAT_YUV420_12,
        "VA_RT_FORMAT_YUV422_12": VA_RT_FORMAT_YUV422_12, "VA_RT_FORMAT_YUV444_12": VA_RT_FORMAT_YUV444_12,
        "VA_RT_FORMAT_RGB32_10": VA_RT_FORMAT_RGB32_10, "VA_RT_FORMAT_RGB32_10BPP": VA_RT_FORMAT_RGB32_10,
        "VA_RT_FORMAT_YUV444": VA_RT_FORMAT_YUV444, "VA_RT_FORMAT_RGB32": VA_RT_FORMAT_RGB32,
        "VA_RT_FORMAT_YUV420_10": VA_RT_FORMAT_YUV420_10, "VA_RT_FORMAT_YUV420_10BPP": VA_RT_FORMAT_YUV420_10,
        "VA_RC_CBR": VA_RC_CBR, "VA_RC_VBR": VA_RC_VBR, "VA_RC_VCM": VA_RC_VCM, "VA_RC_CQP": VA_RC_CQP,
        "VA_RC_ICQ": VA_RC_ICQ, "VA_RC_MB": VA_RC_MB, "VA_RC_QVBR": VA_RC_QVBR, "VA_RC_AVBR": VA_RC_AVBR,
        "VA_RC_TCBRC": VA_RC_TCBRC, "VA_RC_PARALLEL": VA_RC_PARALLEL,
        "VA_ENC_PACKED_HEADER_NONE": 0, "VA_ENC_PACKED_HEADER_SEQUENCE": VA_ENC_PACKED_HEADER_SEQUENCE,
        "VA_ENC_PACKED_HEADER_PICTURE": VA_ENC_PACKED_HEADER_PICTURE,
        "VA_ENC_PACKED_HEADER_SLICE": VA_ENC_PACKED_HEADER_SLICE,
        "VA_ENC_PACKED_HEADER_MISC": VA_ENC_PACKED_HEADER_MISC,
        "VA_ENC_PACKED_HEADER_RAW_DATA": VA_ENC_PACKED_HEADER_RAW_DATA,
        "VA_ENC_INTERLACED_NONE": VA_ENC_INTERLACED_NONE, "VA_ENC_INTERLACED_FRAME": VA_ENC_INTERLACED_FRAME,
        "VA_ENC_INTERLACED_FIELD": VA_ENC_INTERLACED_FIELD, "VA_ENC_INTERLACED_MBAFF": VA_ENC_INTERLACED_MBAFF,
        "VA_ENC_INTERLACED_PAFF": VA_ENC_INTERLACED_PAFF,
        "VA_ENC_SLICE_STRUCTURE_POWER_OF_TWO_ROWS": VA_ENC_SLICE_STRUCTURE_POWER_OF_TWO_ROWS,
        "VA_ENC_SLICE_STRUCTURE_ARBITRARY_MACROBLOCKS": VA_ENC_SLICE_STRUCTURE_ARBITRARY_MACROBLOCKS,
        "VA_ENC_SLICE_STRUCTURE_EQUAL_ROWS": VA_ENC_SLICE_STRUCTURE_EQUAL_ROWS,
        "VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE": VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE,
        "VA_ENC_SLICE_STRUCTURE_ARBITRARY_ROWS": VA_ENC_SLICE_STRUCTURE_ARBITRARY_ROWS,
        "VA_ENC_SLICE_STRUCTURE_EQUAL_MULTI_ROWS": VA_ENC_SLICE_STRUCTURE_EQUAL_MULTI_ROWS,
        "VA_ENC_QUANTIZATION_NONE": 0, "VA_ENC_INTRA_REFRESH_NONE": 0,
        "VA_ENC_QUANTIZATION_TRELLIS_SUPPORTED": VA_ENC_QUANTIZATION_TRELLIS_SUPPORTED,
        "VA_ENC_INTRA_REFRESH_ROLLING_COLUMN": VA_ENC_INTRA_REFRESH_ROLLING_COLUMN,
        "VA_ENC_INTRA_REFRESH_ROLLING_ROW": VA_ENC_INTRA_REFRESH_ROLLING_ROW,
        "VA_ENC_INTRA_REFRESH_P_FRAME": VA_ENC_INTRA_REFRESH_P_FRAME,
    ]

    /// The bit offset of each field that vainfo prints as `name=value`.
    private static let fields: [String: UInt32] = [
        "l0": 0, "l1": 16, "num_roi_regions": 0, "roi_rc_priority_support": 8, "roi_rc_qp_delta_support": 9,
        "max_num_temporal_layers_minus1": 0, "temporal_layer_bitrate_control_flag": 8, "max_frame_size": 0,
        "multiple_pass": 1,
    ]

    /// Returns the rows of `vainfo -a` that can be parsed, as values.
    static func printed(_ name: String) throws -> [String: Rows] {
        let lines = try text(name + ".txt")
        // vainfo of libva 2.12 printed the references instead of the number of slices.
        let mistakesSlices = !lines.contains { $0.contains("libva 2.22") }
        var found: [String: Rows] = [:]
        var (entry, attribute): (String?, String?)
        for line in lines {
            if line.hasPrefix("VAProfile") {
                let key = line.split(separator: " ")[0]
                entry = entryNames[String(key)] == nil ? nil : String(key)
                if let entry { found[entry] = [:] }
                continue
            }
            let words = line.split(whereSeparator: { $0 == " " || $0 == ":" })
            guard let entry, let first = words.first else { continue }
            var values = words[...]
            if first.hasPrefix("VAConfigAttrib") {
                attribute = String(first.dropFirst("VAConfigAttrib".count))
                values = words.dropFirst()
                if attribute == "EncMaxSlices" && mistakesSlices || attributes[attribute ?? ""] == nil { attribute = nil }
            }
            guard let attribute else { continue }
            var value = found[entry]?[attribute] ?? 0
            if let last = values.last, let number = UInt32(last) {
                value = number
            } else {
                for word in values {
                    let sides = word.split(separator: "=")
                    if let bit = bits[String(word)] {
                        value |= UInt32(bitPattern: bit)
                    } else if sides.count == 2, let shift = fields[String(sides[0])], let number = UInt32(sides[1]) {
                        value |= number << shift
                    } else {
                        Issue.record("\(name): \(attribute) is \(word)")
                    }
                }
            }
            found[entry]?[attribute] = value
        }
        return found
    }

    /// Returns the values of `attributes-NAME.txt` if it exists.
    static func raw(_ name: String) throws -> [String: Rows] {
        guard Files.exists((folder ?? "") + "/attributes-\(name).txt") else { return [:] }
        var found: [String: Rows] = [:]
        var entry: String?
        for line in try text("attributes-\(name).txt") {
            if line.hasPrefix("VAProfile") { entry = entryNames[String(line)] == nil ? nil : String(line) }
            let sides = line.drop { $0 == " " }.split(separator: "=")
            guard let entry, line.hasPrefix("  "), sides.count == 2, sides[1].hasPrefix("0x"),
                attributes[String(sides[0])] != nil, let value = UInt32(sides[1].dropFirst(2), radix: 16)
            else { continue }
            found[entry, default: [:]][String(sides[0])] = value
        }
        return found
    }

    /// Returns the driver's answers under a personality, through its vtable.
    static func answers(of name: String) -> [String: Rows] {
        var environment = Environment(isStrict: true)
        environment.personality = name
        let client = Client(environment)
        var found: [String: Rows] = [:]
        for (key, (profile, entrypoint)) in entryNames {
            var rows: Rows = [:]
            for (attribute, type) in attributes {
                var list = [VAConfigAttrib(type: type, value: 0)]
                let status = client.table.vaGetConfigAttributes(client.context, profile, entrypoint, &list, 1)
                if status == VA_STATUS_SUCCESS && list[0].value != VA_ATTRIB_NOT_SUPPORTED {
                    rows[attribute] = list[0].value
                }
            }
            if !rows.isEmpty { found[key] = rows }
        }
        return found
    }
}
