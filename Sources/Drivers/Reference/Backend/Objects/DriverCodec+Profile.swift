internal import CVA

extension DriverCodec {
    /// Creates the codec of a profile. Returns nil if the profile belongs to no codec of the driver.
    init?(_ profile: VAProfile) {
        switch profile {
        case VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High: self = .h264
        case VAProfileHEVCMain, VAProfileHEVCMain10: self = .hevc
        default: return nil
        }
    }
}

extension Capabilities.Entry {
    /// The codec; nil for video processing.
    var codec: DriverCodec? { DriverCodec(profile) }

    /// Returns the codec. Throws UNSUPPORTED_PROFILE if the profile belongs to none.
    func requiredCodec() throws -> DriverCodec {
        guard let codec else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_PROFILE, "profile \(profile.rawValue) has no codec")
        }
        return codec
    }

    /// The bits per sample of encoded pictures.
    var bitDepth: Int { profile == VAProfileHEVCMain10 ? 10 : 8 }
}
