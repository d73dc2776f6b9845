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

    init(coded: VideoSize, block: Int) {
        self.coded = coded
        self.block = block
    }

    /// How a device codes pictures of that size.
    init(_ limits: DeviceLimits, _ size: VideoSize) {
        func aligned(_ side: Int, _ step: Int) -> Int { (side + step - 1) / step * step }
        switch limits.coding {
        case .h264: self.init(coded: size.aligned(to: 16), block: 16)
        case .hevc(let hevc):
            self.init(
                coded: VideoSize(
                    width: aligned(size.width, hevc.alignment.width), height: aligned(size.height, hevc.alignment.height)),
                block: 1 << hevc.log2CodingTreeBlock)
        }
    }
}
