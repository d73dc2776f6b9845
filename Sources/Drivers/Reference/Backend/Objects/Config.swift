internal import CVA

/// A VA config: a profile and entry point with the attributes that its maker chose.
final class Config {
    /// What a client asks for, checked.
    struct Choice {
        let entry: Capabilities.Entry
        let rateControl: UInt32
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

    /// What vaQueryConfigAttributes answers: the chosen values, and the read-only ones.
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

/// What a context does with pictures.
enum ContextKind {
    case encode
    case decode
    /// Scales, converts, deinterlaces.
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

    /// What may stand beside a mode.
    private static let rateControlFlags = UInt32(VA_RC_MB | VA_RC_PARALLEL)

    /// The rate controller's mode; nil for constant QPs.
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

    /// Whether QPs change inside a picture, as `mb_rate_control` (0: as the config says) asks.
    func adaptsMacroblocks(_ asked: UInt32) -> Bool {
        guard (entry.value(VAConfigAttribRateControl) ?? 0) & UInt32(VA_RC_MB) != 0 else { return false }
        return asked == 0 ? rateControl & UInt32(VA_RC_MB) != 0 : asked == 1
    }

    /// Checks what was chosen against `entry`; attributes not given take their defaults (CQP, no packed headers).
    ///
    /// A value that is not offered is INVALID_VALUE, as in real drivers and libva-utils' tests, and so is a value of an
    /// attribute that is not supported.
    init(entry: Capabilities.Entry, attributes chosen: [VAConfigAttrib], _ environment: Environment) throws {
        var rateControl = UInt32(VA_RC_CQP)
        var packedHeaders: UInt32 = 0
        // As an RT format, VA_ATTRIB_NOT_SUPPORTED is VA_RT_FORMAT_PROTECTED.
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
                // Long parameters only: a slice's header stands in them.
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
                // Read-only: a client may repeat what it was told.
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
