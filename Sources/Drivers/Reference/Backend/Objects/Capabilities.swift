internal import CVA

/// The capabilities that the driver reports, and the limits that it enforces.
struct Capabilities: Sendable {
    /// One profile with one entry point.
    struct Entry: Sendable {
        var profile: VAProfile
        var entrypoint: VAEntrypoint
        /// The config attributes, in the order in which vaQueryConfigAttributes returns them.
        var attributes: [(type: VAConfigAttribType, value: UInt32)]
        var minimumWidth: Int
        var minimumHeight: Int
        var maximumWidth: Int
        var maximumHeight: Int
        /// VASurfaceAttribAlignmentSize: log2 of the width's and the height's alignment, in four bits each. Nil if the
        /// driver does not report it.
        var surfaceAlignment: Int? = nil

        /// Returns the value of a config attribute, or nil if the entry does not have it.
        func value(_ type: VAConfigAttribType) -> UInt32? {
            attributes.first { $0.type == type }?.value
        }

        /// The maximum number of entries in reference lists 0 and 1.
        var maximumReferences: (list0: Int, list1: Int) {
            let value = Int(value(VAConfigAttribEncMaxRefFrames) ?? 0)
            return (value & 0xffff, value >> 16)
        }

        /// The maximum number of temporal layers.
        var maximumTemporalLayers: Int { Int(value(VAConfigAttribEncRateControlExt) ?? 0) & 0xff + 1 }
        /// Whether a client may set a bit rate for each temporal layer.
        var supportsTemporalLayerRates: Bool { (value(VAConfigAttribEncRateControlExt) ?? 0) & 0x100 != 0 }
        /// The maximum number of regions of interest in a picture.
        var maximumRegions: Int { Int(value(VAConfigAttribEncROI) ?? 0) & 0xff }
        /// Whether a client may limit the size of slices in bytes.
        var supportsSliceSizeLimit: Bool {
            (value(VAConfigAttribEncSliceStructure) ?? 0) & UInt32(VA_ENC_SLICE_STRUCTURE_MAX_SLICE_SIZE) != 0
        }
        /// The maximum number of slices in a picture.
        var maximumSlices: Int { Int(value(VAConfigAttribEncMaxSlices) ?? 1) }
        /// The number of quality levels. Level 1 is the best.
        var qualityLevels: Int { max(1, Int(value(VAConfigAttribEncQualityRange) ?? 1)) }
    }

    var vendor: String
    var entries: [Entry]
    var behavior = DriverBehavior()

    /// Whether surfaces and images may have 10-bit samples.
    var has10Bits: Bool {
        entries.contains { $0.bitDepth > 8 } || processedFormats & UInt32(VA_RT_FORMAT_YUV420_10) != 0
    }

    /// The memory types that surfaces can have, as VA_SURFACE_ATTRIB_MEM_TYPE_… flags.
    var memoryTypes = UInt32(
        VA_SURFACE_ATTRIB_MEM_TYPE_VA | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2)

    /// The memory types that surfaces of a personality can have: those, and the client's memory.
    static let personalityMemoryTypes = unrestricted.memoryTypes | UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR)

    /// The formats of the video processor, as VA_RT_FORMAT_… flags, or 0 if there is no video processor.
    private var processedFormats: UInt32 {
        entries.first { $0.entrypoint == VAEntrypointVideoProc }?.value(VAConfigAttribRTFormat) ?? 0
    }

    /// The formats of images. The native format, NV12, is the first.
    var imageFormats: [SurfaceFormat] {
        let processed = processedFormats
        return [.nv12, .i420, .yv12] + (has10Bits ? [.p010] : [])
            + SurfaceFormat.all.filter { $0.rtFormat & processed != 0 && !$0.isYUV420 && $0 != .p010 }
    }

    /// The formats of surfaces.
    var surfaceFormats: [SurfaceFormat] {
        let processed = processedFormats
        return SurfaceFormat.all.filter {
            $0 == .nv12 || $0 == .p010 && has10Bits || $0.rtFormat & processed != 0
        }
    }

    /// The profiles without duplicates, in the order of the entries.
    var profiles: [VAProfile] {
        entries.reduce(into: []) { list, entry in
            if !list.contains(entry.profile) { list.append(entry.profile) }
        }
    }

    func entrypoints(of profile: VAProfile) -> [VAEntrypoint] {
        entries.filter { $0.profile == profile }.map(\.entrypoint)
    }

    /// Returns the entry of a profile and an entry point. Throws UNSUPPORTED_PROFILE or UNSUPPORTED_ENTRYPOINT if there
    /// is none.
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

    /// All capabilities of the software encoder, decoder and video processor.
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
                        // The maximum of all levels in H.265 A.4.1.
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

    /// The decoders: the profiles that the driver encodes. H.264 may be interlaced.
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

    /// The video processor, which supports all surface formats.
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

    /// Returns an encoder entry with `attributes` and the attributes that all codecs share.
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
                // Up to 32 regions of interest, with priorities or QP deltas.
                (VAConfigAttribEncROI, 32 | 1 << 8 | 1 << 9),
                // The maximum number of temporal layers minus 1, and the flag for bit rates per layer.
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
