internal import CVA

/// The video codecs whose buffers the driver takes.
enum DriverCodec: Sendable {
    case h264
    case hevc

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
