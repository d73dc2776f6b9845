package import VideoBase

/// At most so many bits in so many seconds, wherever they begin.
package struct WindowLimit: Sendable, Hashable {
    package var bits: Int
    package var seconds: Double
    /// The pictures shown in that time, too; else those decoded in it.
    package var isOfDisplay: Bool

    package init(bits: Int, seconds: Double, isOfDisplay: Bool = true) {
        self.bits = bits
        self.seconds = seconds
        self.isOfDisplay = isOfDisplay
    }
}

/// What a stream's pictures have to keep to.
package struct RateTargets: Sendable, Hashable {
    package enum Aim: Sendable, Hashable {
        /// The same rate all the time, as far as the buffer evens out.
        case constant
        /// The rate on average.
        case variable
        /// That QP, and a higher one only where a limit needs it.
        case quality(qp: Int)
    }

    package var aim: Aim
    /// Bits per second on average.
    package var bitrate: Int
    /// Bits per second at which the coded picture buffer fills; `bitrate` where the rate is constant.
    package var maxBitrate: Int
    /// Bits.
    package var bufferSize: Int
    /// Bits in the buffer when the first picture is decoded.
    package var initialFullness: Int
    package var frameRate: Rational
    package var qpRange = 0...51
    /// No picture has more bits.
    package var maxPictureBits: Int?
    package var windows: [WindowLimit] = []
    /// Macroblocks of a picture: what the first guess goes by.
    package var macroblocks: Int
    package var offsets = QPOffsets()
    /// Pictures by which decoding order and display order differ at most: windows of display hold in either order.
    package var reorderDepth = 0
    /// Of the codec's filler NAL unit with its start code: 6 in H.264, 7 in HEVC.
    package var leastFillerBytes = 6

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

    /// Pictures of which `window` may hold that many in a row.
    func count(of window: WindowLimit) -> Int {
        let frames = (window.seconds * frameRate.value - 1e-6).rounded(.up)
        return max(Int(min(frames, 1e5)), 1) + (window.isOfDisplay && reorderDepth > 0 ? reorderDepth + 1 : 0)
    }
}

/// What the QP of each kind of picture differs by from that of a P picture that others predict from.
package struct QPOffsets: Sendable, Hashable {
    /// Everything up to the next intra picture predicts from it.
    package var intra = -3
    package var bidirectional = 2
    /// For every step down in a pyramid.
    package var perDepth = 1
    /// For every temporal layer above the lowest.
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
