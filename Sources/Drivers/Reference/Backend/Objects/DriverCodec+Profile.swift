internal import CVA

extension DriverCodec {
    init(_ profile: VAProfile) {
        switch profile {
        case VAProfileHEVCMain, VAProfileHEVCMain10: self = .hevc
        default: self = .h264
        }
    }
}

extension Capabilities.Entry {
    var codec: DriverCodec { DriverCodec(profile) }

    /// The bits per sample of encoded pictures.
    var bitDepth: Int { profile == VAProfileHEVCMain10 ? 10 : 8 }
}
