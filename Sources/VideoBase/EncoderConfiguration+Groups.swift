extension EncoderConfiguration {
    /// The settings of rate control.
    public struct Rate: Sendable, Hashable {
        /// The rate control mode. Default: VBR with `bitrate`; constant QP with a QP; otherwise constant quality.
        public var rateControl: RateControlMode?
        /// The average bit rate of the stream, 1000…4·10⁹ bit/s; in CBR, the constant bit rate. CBR, VBR and AVBR need
        /// it. Default in QVBR: `maxBitrate`.
        public var bitrate: BitsPerSecond?
        /// The maximum bit rate over any second (VBR, QVBR), 1000…4·10⁹ bit/s. Default: 1.5 times `bitrate`, limited by
        /// the level. QVBR needs it or `bitrate`.
        public var maxBitrate: BitsPerSecond?
        /// The size of the coded picture buffer (Annex C of H.264 and H.265), 1000…4·10⁹ bits. Default: one second at
        /// the maximum bit rate, or one frame interval if that is longer.
        public var vbvSize: Int?
        /// The fullness of the buffer when decoding begins, 0…100 percent of its size. Default: 75; in software, 90.
        public var vbvInitialPercent: Int?
        /// The QP of P pictures with constant QP, 0…51. Default: `quality`.
        public var qp: Int?
        /// The QP of I pictures with constant QP, 0…51. Default: `qp` − 3; in software, `qp`.
        public var qpI: Int?
        /// The QP of B pictures with constant QP, 0…51. Default: `qp` + 2; in software, `qp`.
        public var qpB: Int?
        /// The target of the quality modes on the QP scale, 1 (best)…51. Default: 24.
        public var quality: Int?
        /// The minimum QP, 0…51. Default: the limit of the driver or the library.
        public var minQP: Int?
        /// The maximum QP, 0…51. Default: the limit of the driver or the library.
        public var maxQP: Int?
        /// The maximum size of an access unit, 100…2²⁸ bytes. Default: no limit.
        public var maxFrameBytes: Int?
        /// The maximum size of a slice NAL unit, 64…2²⁸ bytes. Default: no limit.
        public var maxSliceBytes: Int?
        /// The maximum numbers of bytes in any window of a given duration: *DataRateLimits*. All limits apply. A limit
        /// has 1…2⁴⁰ bytes. Default: none; on a device, a limit of one second for H.264 without B frames, except in
        /// CBR.
        public var dataRateLimits: [DataRateLimit] = []
        /// The component that controls the rate in CBR, VBR and QVBR. Default: the driver if it supports the mode and
        /// the limits, otherwise vaenc.
        public var rateController: RateControlOwner?
        /// Whether rate control works below the picture level, if the driver supports it. Default: the driver's choice.
        public var macroblockRateControl: Bool?

        /// Creates the default settings.
        public init() {}
    }

    /// The settings of the group of pictures and of references.
    public struct Structure: Sendable, Hashable {
        /// The distance between intra pictures, 1…2³¹ − 1 frames. If `gopDuration` is set too, the shorter distance
        /// applies. Default: `gopDuration`, or 5 seconds.
        public var gopFrames: Int?
        /// The time between intra pictures, rounded to frames: more than 0, and at most a day. If `gopFrames` is set
        /// too, the shorter distance applies. Default: `gopFrames`, or 5 seconds.
        public var gopDuration: Duration?
        /// The interval of IDR pictures, 1…2³¹ − 1: every Nth intra picture is an IDR picture. The others are I
        /// pictures with recovery points. Default: 1, so that all intra pictures are IDR pictures; with an open GOP,
        /// only the first one.
        public var idrInterval: Int?
        /// Whether B pictures that precede an I picture in output order may predict from pictures before it. Default:
        /// false.
        public var openGOP = false
        /// The number of consecutive B pictures, 0…7. Default: 2 if the device supports them; 0 with low latency,
        /// long-term references, temporal layers or intra refresh.
        public var bFrames: Int?
        /// The value of the property AllowFrameReordering if `bFrames` is not set. true lets the encoder choose their
        /// number.
        package var allowsBFrames: Bool?
        /// The value of the property AllowTemporalCompression if `gopFrames` is not set.
        package var allowsPFrames: Bool?
        /// Whether B pictures predict from other B pictures, in a pyramid. Default: true from three B pictures on; in
        /// software, from two on.
        public var bPyramid: Bool?
        /// The number of entries in list 0, 1…16. Default: 1, or `longTermReferences` if that is more; in software, the
        /// library's default.
        public var references: Int?
        /// The number of layers of a temporal hierarchy, 1…4. Default: 1.
        public var temporalLayers: Int?
        /// Whether intra-coded macroblock columns (or rows) that move through the picture replace key frames. One pass
        /// takes a GOP. Default: false.
        public var intraRefresh = false
        /// The number of long-term references that the session keeps for `FrameOptions`, 0…15. Default: 0.
        public var longTermReferences: Int?
        /// The display indices, 0 or more, of frames that must become key frames. Default: none.
        public var forcedKeyFrames: Set<Int> = []
        /// The presentation times, 0 or more, from which key frames are forced: the first frame at or after each of
        /// them becomes a key frame. Default: none.
        public var forcedKeyTimes: [Duration] = []

        /// Creates the default settings.
        public init() {}
    }

    /// The coding tools of a picture, and the speed.
    public struct Coding: Sendable, Hashable {
        /// The speed preset, from 1 (best quality) to 7 (fastest). Default: the driver's default; 4 in software; 7 with
        /// `realTime`.
        public var preset: Int?
        /// The entropy coder of H.264. Default: CABAC; CAVLC in the Constrained Baseline profile.
        public var entropy: EntropyCoder?
        /// The number of slices of a picture, 1…4096, limited by the device and the level. Default: 1.
        public var slices: Int?
        /// Whether to use the 8×8 transform of H.264. Default: true in the High profile, which alone supports it.
        public var transform8x8: Bool?
        /// The deblocking filter. Default: on, with offsets of 0.
        public var deblocking: Deblocking?
        /// Whether to use rate–distortion optimized quantization (trellis), if the driver supports it. Default: the
        /// driver's choice.
        public var trellis: Bool?
        /// The regions of interest of every frame. The options of a frame can replace them. Default: none.
        public var regionsOfInterest: [RegionOfInterest] = []

        /// Creates the default settings.
        public init() {}
    }

    /// The description of the samples for the display, which is written to the stream.
    public struct Display: Sendable, Hashable {
        /// The color description that is written to the stream. Default: unspecified.
        public var color = ColorDescription.unspecified
        /// The mastering display, written as an SEI message at each key frame. Default: none.
        public var masteringDisplay: MasteringDisplay?
        /// The content light level, written as an SEI message at each key frame. Default: none.
        public var contentLight: ContentLight?
        /// The sample aspect ratio: the width of a sample divided by its height, each 1…65535 once reduced. Default:
        /// unknown.
        public var sampleAspectRatio: Rational?

        /// Creates the default settings.
        public init() {}
    }

    /// The optional headers and messages of the stream.
    public struct Headers: Sendable, Hashable {
        /// Whether to write an access unit delimiter before every picture. Default: false.
        ///
        /// MPEG-TS always has delimiters: libavformat adds them if they are missing, but no HRD model accounts for
        /// those. A stream with HRD parameters for MPEG-TS must therefore contain its own
        /// (`OutputFormat.wantsDelimiters`).
        public var accessUnitDelimiters = false
        /// Whether to write HRD parameters in the VUI, and buffering period and picture timing SEI messages. Default:
        /// true if the rate control maintains a buffer; in software, only with CBR of libx264.
        public var hrdParameters: Bool?
        /// Whether to write an SEI message with the encoder's name and version at each key frame. Default: true.
        public var identifier: Bool?

        /// Creates the default settings.
        public init() {}
    }

    /// The number of frames that the encoder holds, and the delay.
    public struct Pipeline: Sendable, Hashable {
        /// The number of frames in flight, 1…64. Default: 2; in software 4; 1 with `lowLatency`.
        public var asyncDepth: Int?
        /// Whether to minimize the delay from a frame to its packet. Default: false.
        public var lowLatency = false
        /// The maximum number of frames, 0…64, that the encoder may hold before it delivers the first packet:
        /// *MaxFrameDelayCount*. Default: no limit; 0 with `lowLatency`.
        public var maxFrameDelay: Int?
        /// A hint that frames are encoded while they are captured, so that no frame may take longer than the frame
        /// interval: *RealTime*. If it is true and no preset is requested, the encoder uses its fastest preset.
        /// Default: false.
        public var realTime: Bool?

        /// Creates the default settings.
        public init() {}
    }
}
