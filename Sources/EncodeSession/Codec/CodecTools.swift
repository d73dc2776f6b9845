import VideoBase

/// The coding tools that a stream uses, of its codec.
enum CodecTools: Sendable, Hashable {
    case h264(H264Tools)
}

struct H264Tools: Sendable, Hashable {
    var entropy: EntropyCoder
    var transform8x8: Bool
}
