import VideoBase

/// The coding tools that a stream uses, of its codec.
enum CodecTools: Sendable, Hashable {
    case h264(H264Tools)
    case hevc(HEVCTools)
}

struct H264Tools: Sendable, Hashable {
    var entropy: EntropyCoder
    var transform8x8: Bool
}

struct HEVCTools: Sendable, Hashable {
    /// What the device has: block sizes and tools.
    var limits: HEVCLimits
    /// cu_qp_delta_enabled_flag: QPs may differ within a picture.
    var cuQPDelta: Bool
    /// P pictures have B slices with two equal lists.
    var hasTwoLists: Bool { limits.needsTwoLists }
}
