import NALUnits
package import VideoBase

/// Properties of a codec in containers.
extension VideoCodec {
    /// Selects the codec that determines the form of HLS segments. A codec whose segments are not MPEG-TS takes
    /// precedence.
    init(ofPicturesIn tracks: [MediaTrack]) {
        let codecs = tracks.compactMap(\.codec)
        self = codecs.first { $0.segmentFormat != .ts } ?? codecs.first ?? .assumedForUnknownStreams
    }

    /// The form of the segments that HLS players require: MPEG-TS for H.264, fragmented MP4 for HEVC (Apple's HLS
    /// authoring specification).
    var segmentFormat: OutputFormat {
        switch self {
        case .h264: .ts
        case .hevc: .fmp4
        }
    }

    /// Whether the FLV specification has a number for the codec. HEVC in FLV is an extension that FFmpeg before 6.1 and
    /// most receivers do not support.
    var isHeldByFLV: Bool {
        switch self {
        case .h264: true
        case .hevc: false
        }
    }

    /// Whether MP4 has several names of sample entries for the codec, such as `hvc1` and `hev1`.
    package var hasSampleEntryNames: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Whether the samples of MP4 may contain parameter sets. The sample entry `hev1` allows it (ISO/IEC 14496-15
    /// 8.4.1).
    var samplesMayHaveParameterSets: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Whether a sync sample may begin an open GOP (ISO/IEC 14496-15 8.4.3). An HEVC CRA picture is a sync sample
    /// unless RASL pictures follow.
    var hasOpenSyncSamples: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Whether vaenc writes the access unit delimiters for MPEG-TS. libavformat writes those of HEVC always with
    /// TemporalId 0.
    var needsTransportDelimiters: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Returns the decoder configuration record (`avcC` or `hvcC`) with these parameter sets; nil if a required set is
    /// missing.
    ///
    /// - Parameter isComplete: Whether the samples contain no other parameter sets. Only `hvcC` states this.
    func decoderConfigurationRecord(
        _ parameterSets: [[UInt8]], isComplete: Bool, lengthSize: LengthSize = .four
    ) -> [UInt8]? {
        switch self {
        case .h264:
            var record = AVCDecoderConfigurationRecord(parameterSets: parameterSets)
            record?.lengthSize = lengthSize
            return record?.bytes
        case .hevc:
            var record = HEVCDecoderConfigurationRecord(parameterSets: parameterSets, isComplete: isComplete)
            record?.lengthSize = lengthSize
            return record?.bytes
        }
    }
}
