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

    /// Bits of a sample of what is encoded.
    var bitDepth: Int { profile == VAProfileHEVCMain10 ? 10 : 8 }
}
