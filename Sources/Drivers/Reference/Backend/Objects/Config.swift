internal import CVA

/// A VA config: a profile and an entry point, with the attributes that the client chose.
final class Config {
    /// The attributes that a client chose, after validation.
    struct Choice {
        let entry: Capabilities.Entry
        /// VA_RC_… flags.
        let rateControl: UInt32
        /// VA_ENC_PACKED_HEADER_… flags.
        let packedHeaders: UInt32
    }

    let id: VAConfigID
    let choice: Choice

    var entry: Capabilities.Entry { choice.entry }
    var kind: ContextKind { choice.kind }

    init(id: VAConfigID, choice: Choice) {
        self.id = id
        self.choice = choice
    }

    /// The attributes for vaQueryConfigAttributes: the chosen values, and the entry's values of all other attributes.
    var attributes: [VAConfigAttrib] {
        entry.attributes.map { type, value in
            switch type {
            case VAConfigAttribRateControl: VAConfigAttrib(type: type, value: choice.rateControl)
            case VAConfigAttribEncPackedHeaders: VAConfigAttrib(type: type, value: choice.packedHeaders)
            default: VAConfigAttrib(type: type, value: value)
            }
        }
    }
}

/// The operation that a context performs on pictures.
enum ContextKind {
    case encode
    case decode
    /// Video processing: scaling, conversion and deinterlacing.
    case process

    init(_ entrypoint: VAEntrypoint) {
        self =
            switch entrypoint {
            case VAEntrypointVLD: .decode
            case VAEntrypointVideoProc: .process
            default: .encode
            }
    }
}

extension Config.Choice {
    var kind: ContextKind { ContextKind(entry.entrypoint) }

    /// The flags that may be combined with a rate control mode.
    private static let rateControlFlags = UInt32(VA_RC_MB | VA_RC_PARALLEL)

    /// The mode of the rate controller, or nil for constant QP.
    var rateMode: RateSettings.Mode? {
        switch Int32(bitPattern: rateControl & ~Self.rateControlFlags) {
        case VA_RC_CBR: .constantBitRate
        case VA_RC_VBR, VA_RC_VBR_CONSTRAINED, VA_RC_VCM: .variableBitRate
        case VA_RC_ICQ: .constantQuality
        case VA_RC_QVBR: .qualityVariableBitRate
        case VA_RC_AVBR: .averageBitRate
        case VA_RC_TCBRC: .targetFrameSize
        default: nil
        }
    }

    /// Whether the QP may vary inside a picture.
    ///
    /// - Parameter requested: mb_rate_control: 0 for the config's setting, 1 for on, 2 for off.
    func adaptsMacroblocks(_ requested: UInt32) -> Bool {
        guard (entry.value(VAConfigAttribRateControl) ?? 0) & UInt32(VA_RC_MB) != 0 else { return false }
        return requested == 0 ? rateControl & UInt32(VA_RC_MB) != 0 : requested == 1
    }

    /// Validates the chosen attributes against `entry`.
    ///
    /// Without attributes for them, rate control is CQP and there are no packed headers.
    ///
    /// Throws INVALID_VALUE if a value or an attribute is not supported, as real drivers do and libva-utils' tests
    /// expect. An unsupported RT format throws UNSUPPORTED_RT_FORMAT.
    init(entry: Capabilities.Entry, attributes chosen: [VAConfigAttrib], _ environment: Environment) throws {
        var rateControl = UInt32(VA_RC_CQP)
        var packedHeaders: UInt32 = 0
        // Attributes with the value VA_ATTRIB_NOT_SUPPORTED are skipped. In an RT format, this value is
        // VA_RT_FORMAT_PROTECTED.
        for attribute in chosen
        where attribute.value != VA_ATTRIB_NOT_SUPPORTED || attribute.type == VAConfigAttribRTFormat {
            guard let offered = entry.value(attribute.type) else {
                throw Refusal.invalidValue("config attribute \(attribute.type.rawValue) is not supported")
            }
            let isSubset = attribute.value & ~offered == 0
            switch attribute.type {
            case VAConfigAttribRTFormat:
                guard attribute.value != 0, isSubset else {
                    throw Refusal(
                        VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT, "RT format \(attribute.value) is not supported")
                }
            case VAConfigAttribRateControl:
                let mode = attribute.value & ~Self.rateControlFlags
                guard mode.nonzeroBitCount <= 1, attribute.value != 0, isSubset else {
                    throw Refusal.invalidValue("rate control mode \(attribute.value) is not supported")
                }
                if mode == 0 {
                    try environment.tolerate(
                        .rateControlFlags, .invalidValue("rate control \(attribute.value) names no mode"))
                }
                rateControl = attribute.value | (mode == 0 ? UInt32(VA_RC_CQP) : 0)
            case VAConfigAttribEncPackedHeaders:
                guard isSubset else { throw Refusal.invalidValue("packed headers \(attribute.value) are not supported") }
                packedHeaders = attribute.value
            case VAConfigAttribEncROI:
                guard attribute.value & 0xff <= offered & 0xff, (attribute.value & ~offered) >> 8 == 0 else {
                    throw Refusal.invalidValue("\(attribute.value) regions of interest exceed \(offered)")
                }
            case VAConfigAttribDecSliceMode:
                // Only the long format is supported: the decoder needs the slice header's fields from the parameters.
                guard attribute.value == UInt32(VA_DEC_SLICE_MODE_NORMAL), isSubset else {
                    throw Refusal.invalidValue("slice mode \(attribute.value) is not supported")
                }
            case VAConfigAttribEncSliceStructure, VAConfigAttribEncIntraRefresh, VAConfigAttribEncQuantization,
                VAConfigAttribEncInterlaced:
                guard isSubset else {
                    throw Refusal.invalidValue(
                        "config attribute \(attribute.type.rawValue) is \(offered), not \(attribute.value)")
                }
            default:
                // The attribute is read-only, but a client may set it to the value that was reported.
                guard attribute.value == offered else {
                    throw Refusal.invalidValue(
                        "config attribute \(attribute.type.rawValue) is \(offered), not \(attribute.value)")
                }
            }
        }
        self.entry = entry
        self.rateControl = rateControl
        self.packedHeaders = packedHeaders
    }
}
