extension AttributeType {
    /// Returns the meaning of an attribute value, one string per flag or field.
    ///
    /// The words are those of `va.h`, and those of `vainfo -a` if it has words for the value.
    package func meaning(of value: UInt32) -> [String] {
        guard let reading = Self.readings[rawValue] else { return ["\(value)"] }
        switch reading {
        case .flags(let prefix, let none, let names):
            var words = names.filter { value & $0.0 != 0 }.map { prefix + $0.1 }
            let unnamed = names.reduce(value) { $0 & ~$1.0 }
            if unnamed != 0 { words.append("0x" + String(unnamed, radix: 16)) }
            if words.isEmpty { words = [none.map { prefix + $0 } ?? "0"] }
            return words
        case .fields(let fields):
            var shift: UInt32 = 0
            return fields.compactMap { name, bits in
                defer { shift += bits }
                return name.isEmpty ? nil : "\(name)=\(value >> shift & (1 << bits - 1))"
            }
        case .features:
            return HEVCFeatures.names.enumerated().map { index, name in
                let support = FeatureSupport(rawValue: value >> UInt32(index * 2) & 3) ?? .notSupported
                return "\(name)=\(support)"
            }
        case .yesNo:
            return [value == 0 ? "not supported" : "supported"]
        case .count(let what):
            return ["number of supported \(what) is \(value)"]
        }
    }

    private enum Reading: Sendable {
        /// Flags: the prefix of all names, the name that stands for the value 0, and each bit with its name.
        case flags(String, none: String?, [(UInt32, String)])
        /// Bit fields from bit 0 upwards, each with its name (empty for reserved bits) and its width in bits.
        case fields([(String, UInt32)])
        /// The two-bit fields of VAConfigAttribValEncHEVCFeatures.
        case features
        case yesNo
        case count(String)
    }

    private static let readings: [UInt32: Reading] = [
        0: .flags(
            "VA_RT_FORMAT_", none: nil,
            [
                (0x1, "YUV420"), (0x2, "YUV422"), (0x4, "YUV444"), (0x8, "YUV411"), (0x10, "YUV400"),
                (0x100, "YUV420_10"), (0x200, "YUV422_10"), (0x400, "YUV444_10"), (0x1000, "YUV420_12"),
                (0x2000, "YUV422_12"), (0x4000, "YUV444_12"), (0x10000, "RGB16"), (0x20000, "RGB32"),
                (0x10_0000, "RGBP"), (0x20_0000, "RGB32_10"), (0x8000_0000, "PROTECTED"),
            ]),
        5: .flags(
            "VA_RC_", none: nil,
            [
                (0x1, "NONE"), (0x2, "CBR"), (0x4, "VBR"), (0x8, "VCM"), (0x10, "CQP"), (0x20, "VBR_CONSTRAINED"),
                (0x40, "ICQ"), (0x80, "MB"), (0x100, "CFS"), (0x200, "PARALLEL"), (0x400, "QVBR"), (0x800, "AVBR"),
                (0x1000, "TCBRC"),
            ]),
        6: .flags("VA_DEC_SLICE_MODE_", none: nil, [(1, "NORMAL"), (2, "BASE")]),
        7: .flags("VA_ROTATION_", none: nil, [(1, "NONE"), (2, "90"), (4, "180"), (8, "270")]),
        8: .flags("VA_DEC_PROCESSING", none: "_NONE", [(1, "")]),
        10: .flags(
            "VA_ENC_PACKED_HEADER_", none: "NONE",
            [(1, "SEQUENCE"), (2, "PICTURE"), (4, "SLICE"), (8, "MISC"), (0x10, "RAW_DATA")]),
        11: .flags(
            "VA_ENC_INTERLACED_", none: "NONE", [(1, "FRAME"), (2, "FIELD"), (4, "MBAFF"), (8, "PAFF")]),
        13: .fields([("l0", 16), ("l1", 16)]),
        15: .flags(
            "VA_ENC_SLICE_STRUCTURE_", none: nil,
            [
                (1, "POWER_OF_TWO_ROWS"), (2, "ARBITRARY_MACROBLOCKS"), (4, "EQUAL_ROWS"), (8, "MAX_SLICE_SIZE"),
                (0x10, "ARBITRARY_ROWS"), (0x20, "EQUAL_MULTI_ROWS"),
            ]),
        16: .yesNo,
        20: .fields([
            ("arithmatic_coding_mode", 1), ("progressive_dct_mode", 1), ("non_interleaved_mode", 1),
            ("differential_mode", 1), ("max_num_components", 3), ("max_num_scans", 4), ("max_num_huffman_tables", 3),
            ("max_num_quantization_tables", 3),
        ]),
        21: .count("quality levels"),
        22: .flags("VA_ENC_QUANTIZATION_", none: "NONE", [(1, "TRELLIS_SUPPORTED")]),
        23: .flags(
            "VA_ENC_INTRA_REFRESH_", none: "NONE",
            [
                (1, "ROLLING_COLUMN"), (2, "ROLLING_ROW"), (0x10, "ADAPTIVE"), (0x20, "CYCLIC"),
                (0x1_0000, "P_FRAME"), (0x2_0000, "B_FRAME"), (0x4_0000, "MULTI_REF"),
            ]),
        24: .yesNo,
        25: .fields([("num_roi_regions", 8), ("roi_rc_priority_support", 1), ("roi_rc_qp_delta_support", 1)]),
        26: .fields([("max_num_temporal_layers_minus1", 8), ("temporal_layer_bitrate_control_flag", 1)]),
        27: .flags("VA_PROCESSING_RATE_", none: "NONE", [(1, "ENCODE"), (2, "DECODE")]),
        28: .count("regions"),
        29: .count("layers"),
        30: .yesNo,
        31: .yesNo,
        32: .flags("VA_FEI_FUNCTION_", none: nil, [(1, "ENC"), (2, "PAK"), (4, "ENC_PAK")]),
        33: .count("MV predictors"),
        34: .fields([
            ("max_num_past_references", 4), ("max_num_future_references", 4), ("num_outputs", 3), ("interlaced", 1),
        ]),
        35: .yesNo,
        36: .yesNo,
        37: .yesNo,
        38: .fields([("max_frame_size", 1), ("multiple_pass", 1)]),
        39: .flags("VA_PREDICTION_DIRECTION_", none: nil, [(1, "PREVIOUS"), (2, "FUTURE"), (4, "BI_NOT_EMPTY")]),
        40: .fields([("max_num_concurrent_frames", 8), ("mixed_quality_level", 1)]),
        41: .fields([("priority", 16)]),
        42: .fields([("lst_support", 2)]),
        50: .features,
        51: .fields([
            ("log2_max_coding_tree_block_size_minus3", 2), ("log2_min_coding_tree_block_size_minus3", 2),
            ("log2_min_luma_coding_block_size_minus3", 2), ("log2_max_luma_transform_block_size_minus2", 2),
            ("log2_min_luma_transform_block_size_minus2", 2), ("max_max_transform_hierarchy_depth_inter", 2),
            ("min_max_transform_hierarchy_depth_inter", 2), ("max_max_transform_hierarchy_depth_intra", 2),
            ("min_max_transform_hierarchy_depth_intra", 2), ("log2_max_pcm_coding_block_size_minus3", 2),
            ("log2_min_pcm_coding_block_size_minus3", 2),
        ]),
        55: .fields([("delta_qp_support", 1), ("log2_delta_qp_block_size", 4), ("delta_qp_size_in_bytes", 3)]),
    ]
}
