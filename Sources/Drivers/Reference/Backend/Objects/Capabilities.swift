internal import CVA

/// What the driver says it can do and holds its clients to, as one value.
struct Capabilities: Sendable {
    /// One profile with one entry point.
    struct Entry: Sendable {
        var profile: VAProfile
        var entrypoint: VAEntrypoint
        /// By `VAConfigAttribType`, in the order that vaQueryConfigAttributes gives them.
        var attributes: [(type: VAConfigAttribType, value: UInt32)]
        var minimumWidth: Int
        var minimumHeight: Int
        var maximumWidth: Int
        var maximumHeight: Int
        /// VASurfaceAttribAlignmentSize: log2 of width and height in four bits each; nil where the driver does not tell.
        var surfaceAlignment: Int? = nil

        func value(_ type: VAConfigAttribType) -> UInt32? {
            attributes.first { $0.type == type }?.value
        }

        /// Entries of reference list 0 and list 1.
        var maximumReferences: (list0: Int, list1: Int) {
            let value = Int(value(VAConfigAttribEncMaxRefFrames) ?? 0)
            return (value & 0xffff, value >> 16)
        }

        /// Temporal layers whose structure and rates a client may give.
        var maximumTemporalLayers: Int { Int(value(VAConfigAttribEncRateControlExt) ?? 0) & 0xff + 1 }
        var ratesTemporalLayers: Bool { (value(VAConfigAttribEncRateControlExt) ?? 0) & 0x100 != 0 }
        /// Regions of interest of a picture.
        var maximumRegions: Int { Int(value(VAConfigAttribEncROI) ?? 0) & 0xff }
        /// Slices end where they reach a client's limit of bytes.
        var limitsSliceSize: Bool {
            (value(VAConfigAttribEncSliceStructure) ?? 0) & UInt32(VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE) != 0
        }
        /// Slices of a picture.
        var maximumSlices: Int { Int(value(VAConfigAttribEncMaxSlices) ?? 1) }
        /// Quality levels run from 1 (best) to this.
        var qualityLevels: Int { max(1, Int(value(VAConfigAttribEncQualityRange) ?? 1)) }
    }

    var vendor: String
    var entries: [Entry]
    var behavior = DriverBehavior()

    var has10Bits: Bool {
        entries.contains { $0.bitDepth > 8 } || processedFormats & UInt32(VA_RT_FORMAT_YUV420_10) != 0
    }

    /// VA_SURFACE_ATTRIB_MEM_TYPE_…: what surfaces can be made of.
    var memoryTypes = UInt32(
        VA_SURFACE_ATTRIB_MEM_TYPE_VA | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2)

    /// VA_RT_FORMAT_… that pictures can be processed in; 0 without a processor.
    private var processedFormats: UInt32 {
        entries.first { $0.entrypoint == VAEntrypointVideoProc }?.value(VAConfigAttribRTFormat) ?? 0
    }

    /// The native one first.
    var imageFormats: [SurfaceFormat] {
        let processed = processedFormats
        return [.nv12, .i420, .yv12] + (has10Bits ? [.p010] : [])
            + SurfaceFormat.all.filter { $0.rtFormat & processed != 0 && !$0.isYUV420 && $0 != .p010 }
    }

    /// What surfaces may hold.
    var surfaceFormats: [SurfaceFormat] {
        let processed = processedFormats
        return SurfaceFormat.all.filter {
            $0 == .nv12 || $0 == .p010 && has10Bits || $0.rtFormat & processed != 0
        }
    }

    /// Each profile once, in order.
    var profiles: [VAProfile] {
        entries.reduce(into: []) { list, entry in
            if !list.contains(entry.profile) { list.append(entry.profile) }
        }
    }

    func entrypoints(of profile: VAProfile) -> [VAEntrypoint] {
        entries.filter { $0.profile == profile }.map(\.entrypoint)
    }

    func entry(_ profile: VAProfile, _ entrypoint: VAEntrypoint) throws -> Entry {
        guard entries.contains(where: { $0.profile == profile }) else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_PROFILE, "profile \(profile.rawValue) is not supported")
        }
        guard let entry = entries.first(where: { $0.profile == profile && $0.entrypoint == entrypoint }) else {
            throw Refusal(
                VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT,
                "entry point \(entrypoint.rawValue) is not supported for profile \(profile.rawValue)")
        }
        return entry
    }

    /// All that the software encoder behind the driver can do.
    static let unrestricted = Capabilities(
        vendor: "vaenc reference driver (software encoder and decoder of H.264 and HEVC)",
        entries: [VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High].map { profile in
            entry(
                profile, VA_RT_FORMAT_YUV420,
                [
                    (VAConfigAttribEncInterlaced, UInt32(VA_ENC_INTERLACED_NONE)),
                    (VAConfigAttribEncMaxRefFrames, profile == VAProfileH264ConstrainedBaseline ? 16 : 16 | 16 << 16),
                    (VAConfigAttribEncMaxSlices, UInt32(maximumSide / 16)),
                    (
                        VAConfigAttribPredictionDirection,
                        profile == VAProfileH264ConstrainedBaseline
                            ? UInt32(VA_PREDICTION_DIRECTION_PREVIOUS) : predictionDirections
                    ),
                ])
        }
            + [(VAProfileHEVCMain, VA_RT_FORMAT_YUV420), (VAProfileHEVCMain10, VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10)].map {
                entry(
                    $0, $1,
                    [
                        (VAConfigAttribEncInterlaced, UInt32(VA_ENC_INTERLACED_NONE)),
                        (VAConfigAttribEncMaxRefFrames, 15 | 15 << 16),
                        // A.4.1 has no level with more.
                        (VAConfigAttribEncMaxSlices, 600),
                        (VAConfigAttribPredictionDirection, predictionDirections),
                        (VAConfigAttribEncTileSupport, 1),
                        (
                            VAConfigAttribEncHEVCFeatures,
                            HEVCFeatures.word([
                                .asymmetricPartitions, .sampleAdaptiveOffset, .temporalVectors, .strongIntraSmoothing,
                                .signHiding, .constrainedIntra, .transformSkip, .quantizerDelta, .deblockingDisable,
                            ])
                        ),
                        (VAConfigAttribEncHEVCBlockSizes, HEVCBlockSizes.word(depth: 2)),
                    ])
            } + decoders + [processor])

    /// All that libavcodec decodes of what is encoded, and interlaced H.264.
    private static let decoders = [
        (VAProfileH264ConstrainedBaseline, VA_RT_FORMAT_YUV420), (VAProfileH264Main, VA_RT_FORMAT_YUV420),
        (VAProfileH264High, VA_RT_FORMAT_YUV420), (VAProfileHEVCMain, VA_RT_FORMAT_YUV420),
        (VAProfileHEVCMain10, VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10),
    ].map { profile, format in
        Entry(
            profile: profile, entrypoint: VAEntrypointVLD,
            attributes: [
                (VAConfigAttribRTFormat, UInt32(format)),
                (VAConfigAttribDecSliceMode, UInt32(VA_DEC_SLICE_MODE_NORMAL)),
                (VAConfigAttribDecProcessing, UInt32(VA_DEC_PROCESSING_NONE)),
                (VAConfigAttribMaxPictureWidth, UInt32(maximumDecodedSide)),
                (VAConfigAttribMaxPictureHeight, UInt32(maximumDecodedSide)),
            ],
            minimumWidth: 8, minimumHeight: 8, maximumWidth: maximumDecodedSide, maximumHeight: maximumDecodedSide)
    }
    private static let maximumDecodedSide = 8192

    /// A processor of all formats that surfaces have.
    private static let processor = Entry(
        profile: VAProfileNone, entrypoint: VAEntrypointVideoProc,
        attributes: [
            (
                VAConfigAttribRTFormat,
                UInt32(VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10 | VA_RT_FORMAT_YUV422 | VA_RT_FORMAT_RGB32)
            )
        ],
        minimumWidth: 2, minimumHeight: 2, maximumWidth: Driver.maximumSurfaceSide,
        maximumHeight: Driver.maximumSurfaceSide)

    /// With what all codecs have in common.
    private static func entry(
        _ profile: VAProfile, _ format: Int32, _ attributes: [(type: VAConfigAttribType, value: UInt32)]
    ) -> Entry {
        Entry(
            profile: profile, entrypoint: VAEntrypointEncSlice,
            attributes: [
                (VAConfigAttribRTFormat, UInt32(format)),
                (VAConfigAttribRateControl, rateControlModes),
                (VAConfigAttribEncPackedHeaders, allPackedHeaders),
            ] + attributes + [
                (VAConfigAttribEncSliceStructure, sliceStructures),
                (VAConfigAttribMaxPictureWidth, UInt32(maximumSide)),
                (VAConfigAttribMaxPictureHeight, UInt32(maximumSide)),
                (VAConfigAttribEncQualityRange, 7),
                (VAConfigAttribEncIntraRefresh, intraRefreshKinds),
                (VAConfigAttribEncQuantization, UInt32(VA_ENC_QUANTIZATION_TRELLIS_SUPPORTED)),
                (VAConfigAttribEncSkipFrame, 1),
                // Regions, with priorities or QP differences.
                (VAConfigAttribEncROI, 32 | 1 << 8 | 1 << 9),
                // Layers less one, each with a rate of its own.
                (VAConfigAttribEncRateControlExt, 3 | 1 << 8),
                (VAConfigAttribMaxFrameSize, 1),
            ],
            minimumWidth: 16, minimumHeight: 16, maximumWidth: maximumSide, maximumHeight: maximumSide)
    }

    private static let maximumSide = 4096
    private static let allPackedHeaders = UInt32(
        VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE | VA_ENC_PACKED_HEADER_SLICE
            | VA_ENC_PACKED_HEADER_MISC | VA_ENC_PACKED_HEADER_RAW_DATA)
    private static let rateControlModes = UInt32(
        VA_RC_CQP | VA_RC_CBR | VA_RC_VBR | VA_RC_ICQ | VA_RC_QVBR | VA_RC_AVBR | VA_RC_MB)
    private static let predictionDirections = UInt32(
        VA_PREDICTION_DIRECTION_PREVIOUS | VA_PREDICTION_DIRECTION_FUTURE)
    private static let intraRefreshKinds = UInt32(
        VA_ENC_INTRA_REFRESH_ROLLING_COLUMN | VA_ENC_INTRA_REFRESH_ROLLING_ROW | VA_ENC_INTRA_REFRESH_P_FRAME
            | VA_ENC_INTRA_REFRESH_MULTI_REF)
    private static let sliceStructures = UInt32(
        VA_ENC_SLICE_STRUCTURE_ARBITRARY_MACROBLOCKS | VA_ENC_SLICE_STRUCTURE_ARBITRARY_ROWS
            | VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE | VA_ENC_SLICE_STRUCTURE_EQUAL_ROWS | VA_ENC_SLICE_STRUCTURE_EQUAL_MULTI_ROWS
            | VA_ENC_SLICE_STRUCTURE_POWER_OF_TWO_ROWS)
}
