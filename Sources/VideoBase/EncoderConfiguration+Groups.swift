extension EncoderConfiguration {
    /// The settings of rate control.
    public struct Rate: Sendable, Hashable {
        /// The rate control mode. nil: VBR with a bit rate; constant QP with a QP; otherwise a quality is the target.
        public var rateControl: RateControlMode?
        /// The average bit rate of the stream, also in CBR.
        public var bitrate: BitsPerSecond?
        /// The maximum bit rate over any second (VBR, QVBR).
        public var maxBitrate: BitsPerSecond?
        /// The size of the coded picture buffer in bits, Annex C of H.264 and H.265.
        public var vbvSize: Int?
        /// The fullness of the buffer when decoding begins, 0…100 percent of its size.
        public var vbvInitialPercent: Int?
        /// The QP of P pictures, 0…51.
        public var qp: Int?
        /// The QP of I pictures, 0…51.
        public var qpI: Int?
        /// The QP of B pictures, 0…51.
        public var qpB: Int?
        /// The target of the quality modes on the QP scale, 1…51.
        public var quality: Int?
        /// The minimum QP, 0…51.
        public var minQP: Int?
        /// The maximum QP, 0…51.
        public var maxQP: Int?
        /// The maximum size of an access unit in bytes.
        public var maxFrameBytes: Int?
        /// The maximum size of a slice NAL unit in bytes.
        public var maxSliceBytes: Int?
        /// The maximum numbers of bytes in any window of a given duration: *DataRateLimits*. All limits apply.
        public var dataRateLimits: [DataRateLimit] = []
        /// The component that controls the rate in CBR and VBR. nil: the driver if it has rate control, otherwise
        /// vaenc.
        public var rateController: RateControlOwner?
        /// Whether rate control works below the picture level, if the driver supports it.
        public var macroblockRateControl: Bool?

        /// Creates the default settings.
        public init() {}
    }

    /// The settings of the group of pictures and of references.
    public struct Structure: Sendable, Hashable {
        /// The distance between intra pictures in frames. If `gopDuration` is set too, the shorter distance applies. nil
        /// without `gopDuration`: 5 seconds.
        public var gopFrames: Int?
        /// The time between intra pictures, rounded to frames: more than 0, and at most a day. If `gopFrames` is set too,
        /// the shorter distance applies.
        public var gopDuration: Duration?
        /// The interval of IDR pictures: every Nth intra picture is an IDR picture. The others are I pictures with
        /// recovery points. 1 makes all intra pictures IDR pictures.
        public var idrInterval: Int?
        /// Whether B pictures that precede an I picture in output order may predict from pictures before it.
        public var openGOP = false
        /// The number of consecutive B pictures, 0…7.
        public var bFrames: Int?
        /// The value of the property AllowFrameReordering if `bFrames` is not set. true lets the encoder choose their
        /// number.
        package var allowsBFrames: Bool?
        /// The value of the property AllowTemporalCompression if `gopFrames` is not set.
        package var allowsPFrames: Bool?
        /// Whether B pictures predict from other B pictures, in a pyramid.
        public var bPyramid: Bool?
        /// The number of entries in list 0.
        public var references: Int?
        /// The number of layers of a temporal hierarchy, 1…4.
        public var temporalLayers: Int?
        /// Whether intra-coded macroblock columns (or rows) that move through the picture replace key frames. One pass
        /// takes a GOP.
        public var intraRefresh = false
        /// The number of long-term references that the session keeps for `FrameOptions`, 0 for none.
        public var longTermReferences: Int?
        /// The display indices of frames that must become key frames.
        public var forcedKeyFrames: Set<Int> = []
        /// Presentation times, 0 or more. The first frame at or after each of them becomes a key frame.
        public var forcedKeyTimes: [Duration] = []

        /// Creates the default settings.
        public init() {}
    }

    /// The coding tools of a picture, and the speed.
    public struct Coding: Sendable, Hashable {
        /// The speed preset, from 1 (best quality) to 7 (fastest).
        public var preset: Int?
        /// The entropy coder of H.264.
        public var entropy: EntropyCoder?
        /// The number of slices of a picture.
        public var slices: Int?
        /// Whether to use the 8×8 transform of H.264.
        public var transform8x8: Bool?
        /// The deblocking filter.
        public var deblocking: Deblocking?
        /// Whether to use rate–distortion optimized quantization (trellis), if the driver supports it.
        public var trellis: Bool?
        /// The regions of interest of every frame. The options of a frame can replace them.
        public var regionsOfInterest: [RegionOfInterest] = []

        /// Creates the default settings.
        public init() {}
    }

    /// The description of the samples for the display, which is written to the stream.
    public struct Display: Sendable, Hashable {
        /// The color description that is written to the stream.
        public var color = ColorDescription.unspecified
        /// The mastering display, written as an SEI message at each key frame.
        public var masteringDisplay: MasteringDisplay?
        /// The content light level, written as an SEI message at each key frame.
        public var contentLight: ContentLight?
        /// The sample aspect ratio, or nil if it is unknown.
        public var sampleAspectRatio: Rational?

        /// Creates the default settings.
        public init() {}
    }

    /// The optional headers and messages of the stream.
    public struct Headers: Sendable, Hashable {
        /// Whether to write an access unit delimiter before every picture.
        ///
        /// MPEG-TS always has delimiters: libavformat adds them if they are missing, but no HRD model accounts for
        /// those. A stream with HRD parameters for MPEG-TS must therefore contain its own
        /// (`OutputFormat.wantsDelimiters`).
        public var accessUnitDelimiters = false
        /// Whether to write HRD parameters in the VUI, and buffering period and picture timing SEI messages. nil: if
        /// the rate control maintains a buffer.
        public var hrdParameters: Bool?
        /// Whether to write an SEI message with the encoder's name and version at each key frame.
        public var identifier: Bool?

        /// Creates the default settings.
        public init() {}
    }

    /// The number of frames that the encoder holds, and the delay.
    public struct Pipeline: Sendable, Hashable {
        /// The number of frames in flight: 1…64 on a device (default 2), 1…256 in software (default 4). 1 with
        /// `lowLatency`.
        public var asyncDepth: Int?
        /// Whether to minimize the delay from a frame to its packet.
        public var lowLatency = false
        /// The maximum number of frames that the encoder may hold before it delivers the first packet:
        /// *MaxFrameDelayCount*.
        public var maxFrameDelay: Int?
        /// A hint that frames are encoded while they are captured, so that no frame may take longer than the frame
        /// interval: *RealTime*. If it is true and no preset is requested, the encoder uses its fastest preset.
        public var realTime: Bool?

        /// Creates the default settings.
        public init() {}
    }
}
