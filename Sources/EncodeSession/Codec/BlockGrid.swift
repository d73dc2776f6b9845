import VideoBase

/// The division of a picture into the blocks that a codec codes one after another.
struct BlockGrid: Sendable, Hashable {
    /// The coded size: the visible picture with its padding. Surfaces have this size.
    var coded: VideoSize
    /// The side of a block in samples: 16 for H.264's macroblocks; 16, 32 or 64 for HEVC's coding tree blocks.
    var block: Int

    var columns: Int { (coded.width + block - 1) / block }
    var rows: Int { (coded.height + block - 1) / block }
    /// The number of 16×16 areas, the unit of rates and limits.
    var areas: Int { ((coded.width + 15) / 16) * ((coded.height + 15) / 16) }

    init(coded: VideoSize, block: Int) {
        self.coded = coded
        self.block = block
    }

    /// Creates the grid that a device uses for pictures of that size.
    init(_ limits: EncodeCapabilities, _ size: VideoSize) {
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
