import VideoBase

/// How a picture is cut into the blocks that a codec codes one after the other.
struct BlockGrid: Sendable, Hashable {
    /// What is coded, the visible picture and what fills it up: the surfaces' size.
    var coded: VideoSize
    /// Samples on a block's side: 16 of H.264's macroblocks, 16, 32 or 64 of HEVC's coding tree blocks.
    var block: Int

    var columns: Int { (coded.width + block - 1) / block }
    var rows: Int { (coded.height + block - 1) / block }
    /// 16×16 areas, which rates and limits count in.
    var areas: Int { ((coded.width + 15) / 16) * ((coded.height + 15) / 16) }

    /// H.264's.
    static func macroblocks(_ size: VideoSize) -> BlockGrid { BlockGrid(coded: size.aligned(to: 16), block: 16) }
}
