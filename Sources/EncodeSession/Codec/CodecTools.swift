import VideoBase

/// The coding tools of a stream.
enum CodecTools: Sendable, Hashable {
    case h264(H264Tools)
    case hevc(HEVCTools)
}

struct H264Tools: Sendable, Hashable {
    var entropy: EntropyCoder
    var transform8x8: Bool
}

struct HEVCTools: Sendable, Hashable {
    /// The block sizes and tools that the device supports.
    var limits: HEVCCapabilities
    /// cu_qp_delta_enabled_flag: whether the QP may differ within a picture.
    var cuQPDelta: Bool
    /// Whether P pictures use B slices with two equal lists.
    var hasTwoLists: Bool { limits.needsTwoLists }
}
