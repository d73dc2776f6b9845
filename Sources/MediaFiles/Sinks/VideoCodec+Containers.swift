import NALUnits
package import VideoBase

/// What containers do with a codec.
extension VideoCodec {
    /// The codec that decides what HLS makes of these tracks: one whose segments are not MPEG-TS comes before another.
    init(ofPicturesIn tracks: [MediaTrack]) {
        let codecs = tracks.compactMap { VideoCodec(rawValue: $0.codecName) }
        self = codecs.first { $0.segmentFormat != .ts } ?? codecs.first ?? .h264
    }

    /// The form of the segments that HLS players take: MPEG-TS for H.264, fragmented MP4 for HEVC (Apple's HLS authoring specification).
    var segmentFormat: OutputFormat {
        switch self {
        case .h264: .ts
        case .hevc: .fmp4
        }
    }

    /// Whether FLV has a number for the codec. HEVC in FLV is an extension that FFmpeg before 6.1 and most receivers do not know.
    var isHeldByFLV: Bool {
        switch self {
        case .h264: true
        case .hevc: false
        }
    }

    /// Whether sample entries of MP4 have several names for the codec, as `hvc1` and `hev1`.
    package var hasSampleEntryNames: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Whether samples of MP4 may bring parameter sets: the sample entry `hev1` allows it (ISO/IEC 14496-15 8.4.1).
    var samplesMayHaveParameterSets: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Whether a sync sample may begin an open GOP (ISO/IEC 14496-15 8.4.3): a CRA picture of HEVC is one unless RASL pictures follow.
    var hasOpenSyncSamples: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// Whether access unit delimiters for MPEG-TS are written here: libavformat gives those of HEVC a TemporalId of their own.
    var needsTransportDelimiters: Bool {
        switch self {
        case .h264: false
        case .hevc: true
        }
    }

    /// The decoder configuration record with these parameter sets: `avcC` or `hvcC`. nil if a set that it needs is missing.
    ///
    /// - Parameter isComplete: Whether samples bring no other parameter sets; only `hvcC` says so.
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
