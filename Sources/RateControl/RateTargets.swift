package import VideoBase

/// A limit on the bits in any interval of `seconds` seconds.
package struct WindowLimit: Sendable, Hashable {
    package var bits: Int
    package var seconds: Double
    /// Whether the limit also applies to the pictures shown in that time. If `false`, it applies only to the pictures
    /// decoded in that time.
    package var isOfDisplay: Bool

    package init(bits: Int, seconds: Double, isOfDisplay: Bool = true) {
        self.bits = bits
        self.seconds = seconds
        self.isOfDisplay = isOfDisplay
    }
}

/// The targets and limits of a stream's rate control.
package struct RateTargets: Sendable, Hashable {
    package enum Aim: Sendable, Hashable {
        /// A constant rate, apart from variations that the buffer absorbs.
        case constant
        /// An average rate.
        case variable
        /// A constant quality: the QP is `qp`, or higher if a limit requires it.
        case quality(qp: Int)
    }

    package var aim: Aim
    /// The average rate in bits per second.
    package var bitrate: Int
    /// The rate at which the coded picture buffer fills, in bits per second; equal to `bitrate` if the rate is
    /// constant.
    package var maxBitrate: Int
    /// The size of the coded picture buffer in bits.
    package var bufferSize: Int
    /// The bits in the buffer when the first picture is decoded.
    package var initialFullness: Int
    package var frameRate: Rational
    package var qpRange = 0...51
    /// The maximum size of a picture in bits; nil: no limit.
    package var maxPictureBits: Int?
    package var windows: [WindowLimit] = []
    /// The number of macroblocks in a picture. The first guess depends on it.
    package var macroblocks: Int
    package var offsets = QPOffsets()
    /// The maximum number of pictures by which decoding order and display order differ. Windows of display hold in both
    /// orders.
    package var reorderDepth = 0
    /// The minimum size of the codec's filler NAL unit with its start code: 6 in H.264, 7 in HEVC.
    package var minFillerBytes = 6

    package init(
        aim: Aim, bitrate: Int, maxBitrate: Int? = nil, bufferSize: Int? = nil, initialFullness: Int? = nil,
        frameRate: Rational, macroblocks: Int
    ) {
        self.aim = aim
        self.bitrate = bitrate
        self.maxBitrate = maxBitrate ?? bitrate
        let size = bufferSize ?? self.maxBitrate
        self.bufferSize = size
        self.initialFullness = initialFullness ?? size / 4 * 3
        self.frameRate = frameRate.reduced
        self.macroblocks = macroblocks
    }

    var isConstant: Bool { aim == .constant }
    var bitsPerFrame: Double { Double(bitrate) / frameRate.value }
    var framesPerSecond: Double { frameRate.value }

    /// Returns the number of consecutive pictures in coding order that `window` limits.
    func count(of window: WindowLimit) -> Int {
        let frames = (window.seconds * frameRate.value - 1e-6).rounded(.up)
        return max(Int(min(frames, 1e5)), 1) + (window.isOfDisplay && reorderDepth > 0 ? reorderDepth + 1 : 0)
    }
}

/// The difference of each picture kind's QP from the QP of a P picture that other pictures predict from.
package struct QPOffsets: Sendable, Hashable {
    /// The offset of intra pictures. It is low because all pictures up to the next intra picture predict from them.
    package var intra = -3
    /// The offset of B pictures.
    package var bidirectional = 2
    /// The additional offset for each level of a pyramid of B pictures.
    package var perDepth = 1
    /// The additional offset for each temporal layer above the lowest.
    package var perLayer = 1

    package init() {}

    package func offset(_ type: PictureType, depth: Int, layer: Int) -> Int {
        switch type {
        case .idr, .i: intra
        case .p: layer * perLayer
        case .b: bidirectional + max(depth - 1, 0) * perDepth + layer * perLayer
        }
    }
}
