import VideoBase

/// A wrong or missing answer, or a fault, of some driver that vaenc works around.
///
/// The table of all quirks is below. Code that works around one asks `affects`, and needs no vendor string of its own.
/// Further conditions, such as the codec or the entry point, are where the workaround is. A workaround that does no harm
/// anywhere is used with every driver (`isForEveryDriver`), and its code names the quirk in a comment.
package struct DriverQuirk: Sendable, Hashable {
    /// A driver as far as vaenc must tell it from others. The vendor string (vaQueryVendorString) identifies it.
    package enum Driver: Sendable, Hashable {
        /// Intel's media driver.
        case iHD
        /// Intel's former driver.
        case i965
        /// Mesa's driver for AMD.
        case radeonsi

        /// Whether the vendor string is one of this driver.
        fileprivate func isNamed(by vendor: String) -> Bool {
            switch self {
            case .iHD: vendor.contains("iHD")
            case .i965: vendor.contains("i965")
            case .radeonsi: vendor.contains("radeonsi") || vendor.contains("Mesa Gallium")
            }
        }
    }

    package let driver: Driver
    /// The versions that were seen with it, in words. The workaround is used with all versions up to `endsBefore`. It
    /// does no harm with those that do not have the quirk.
    package let versions: String
    /// The first major version of Mesa in which the workaround must not be used; nil if it can be used with every
    /// version.
    package let endsBefore: Int?
    /// Whether the workaround is used with every driver.
    package let isForEveryDriver: Bool
    /// A description of what the driver does.
    package let symptom: String
    /// The source of this knowledge.
    package let source: String

    fileprivate init(
        _ driver: Driver, versions: String, endsBefore: Int? = nil, everywhere: Bool = false, symptom: String,
        source: String
    ) {
        (self.driver, self.versions, self.endsBefore, isForEveryDriver) = (driver, versions, endsBefore, everywhere)
        (self.symptom, self.source) = (symptom, source)
    }

    /// Returns whether a driver has the quirk.
    ///
    /// - Parameter vendor: The driver's vendor string.
    package func affects(_ vendor: String) -> Bool {
        guard driver.isNamed(by: vendor) else { return false }
        guard driver == .radeonsi, let endsBefore else { return true }
        return Self.mesaMajorVersion(vendor).map { $0 < endsBefore } ?? false
    }

    /// Returns 22 for `Mesa Gallium driver 22.3.6 for AMD …`; nil if the string has another form.
    private static func mesaMajorVersion(_ vendor: String) -> Int? {
        let name = "Mesa Gallium driver "
        guard vendor.hasPrefix(name) else { return nil }
        return Int(vendor.dropFirst(name.count).prefix { $0.isNumber })
    }
}

extension DriverQuirk {
    /// The source of a quirk that a comment of the code described without one.
    private static let unrecorded = "not recorded"

    // MARK: iHD

    package static let mapsAfterSurfaceSync = DriverQuirk(
        .iHD, versions: "all",
        symptom: "mapping a coded buffer can fail after vaSyncBuffer and succeed after vaSyncSurface",
        source: "intel/media-driver issue 1478")
    package static let referencesAreUnion = DriverQuirk(
        .iHD, versions: "all",
        symptom:
            "the lengths of both lists are a limit of their union; low power stores no more pictures than its lists hold",
        source: "intel/media-driver issue 1390")
    package static let minimumIsUnreported = DriverQuirk(
        .iHD, versions: "before 25", symptom: "low power encodes HEVC from 128×128 on and does not report this minimum",
        source: "the capabilities of iHD 23.1 and 25.2 for the same hardware")
    package static let threeQualityLevels = DriverQuirk(
        .iHD, versions: "all", symptom: "HEVC reports seven quality levels and takes 1, 4 and 7 only",
        source: "intel/media-driver issue 1153")
    package static let hevcToolsAreUnreported = DriverQuirk(
        .iHD, versions: "23.1",
        symptom:
            "HEVC does not report its coding tools, block sizes and prediction direction on Gen9 and on older low power",
        source: "the capabilities of iHD 23.1; FFmpeg's defaults for a driver that does not answer")
    package static let vdencReferences = DriverQuirk(
        .iHD, versions: "all",
        symptom: "the VDEnc hardware takes two references in list 0 and one in list 1 for HEVC if the lists differ",
        source: "intel/media-driver issue 1390")
    package static let freeBuildEncodesNothing = DriverQuirk(
        .iHD, versions: "Debian's and Ubuntu's free build", symptom: "the free build encodes nothing on some hardware",
        source: "the package intel-media-va-driver-non-free")

    /// A limit that `SettingsResolver+Rate.swift` handles: it uses vaenc's own rate control and reports the reason.
    package static let lowPowerNeedsFirmware = DriverQuirk(
        .iHD, versions: "all", everywhere: true,
        symptom: "low power supports constant QP only if the HuC firmware is not loaded",
        source: "iHD's media_libva_caps_g12.cpp")
    /// A change between versions that `DeviceCapabilities` handles: it always asks for both entry points.
    package static let movesEntryPoints = DriverQuirk(
        .iHD, versions: "25", everywhere: true,
        symptom: "some hardware has EncSlice only, where older versions have EncSliceLP",
        source: "iHD 25.2.3, run on a faked kernel")
    /// A fault that `OptionalSettingsFallback` detects and then avoids.
    package static let refusesQualityLevels = DriverQuirk(
        .iHD, versions: "23.1 on Ice Lake", everywhere: true,
        symptom: "every P picture fails at quality levels 1 and 2",
        source: "iHD 23.1.1, run on a faked kernel")

    /// A fault that `Image` avoids: if the driver can map a surface's own memory, it is mapped for reading too.
    package static let misplacesImageChroma = DriverQuirk(
        .iHD, versions: "23.1", everywhere: true,
        symptom: "vaGetImage misplaces the chroma of surfaces whose height is not a multiple of 32",
        source: unrecorded)
    /// A limit that the HEVC slices keep: all of them have the SAO flags of the sequence.
    package static let needsEqualSAOFlags = DriverQuirk(
        .iHD, versions: "all", everywhere: true,
        symptom: "HEVC pictures are refused if the SAO flags of their slices differ",
        source: "iHD's codechal_encode_hevc_base.cpp")

    // MARK: i965

    /// A fault that `SlicePartition` avoids: if the driver accepts slices of any length, the last slice is never the
    /// smallest.
    package static let needsWholeLastSlice = DriverQuirk(
        .i965, versions: "some", everywhere: true,
        symptom: "pictures fail if the last slice has fewer rows than the others",
        source: unrecorded)

    // MARK: radeonsi

    /// A fault that `PictureSubmitter` avoids: it renders a picture parameter buffer with each picture, or renders
    /// nothing.
    package static let crashesWithoutPictureParameters = DriverQuirk(
        .radeonsi, versions: "22.3", everywhere: true,
        symptom: "a missing or short picture parameter buffer crashes the process",
        source: "Mesa 22.3.6, run on a faked kernel")
    /// A layout that `CodedBuffer.read` handles.
    package static let chainsCodedSegments = DriverQuirk(
        .radeonsi, versions: "25", everywhere: true,
        symptom: "a coded buffer is a chain of segments: one for each header, then the slices",
        source: "Mesa 25.0.7, run on a faked kernel")
    /// A fault that `HEVCPictureBuffer.swift` avoids: reference_frames has the whole reference picture set, the lists
    /// first.
    package static let losesUnlistedReferences = DriverQuirk(
        .radeonsi, versions: "25", everywhere: true,
        symptom: """
            HEVC pictures that reference_frames does not list are lost for later pictures, whose lists are then refused \
            (VA_STATUS_ERROR_INVALID_PARAMETER)
            """,
        source: "Mesa 25.0.7, run on a faked kernel")
    /// A difference that `DriverHEVCSequenceParameterSet` handles.
    package static let ownHEVCParameterSets = DriverQuirk(
        .radeonsi, versions: "22.3", everywhere: true,
        symptom: "HEVC parameter sets are the driver's own, with the client's window unchanged and without the VUI",
        source: "Mesa 22.3.6, run on a faked kernel")
    /// A fault that `ImagePool` avoids: it creates taller images.
    package static let writesPastImages = DriverQuirk(
        .radeonsi, versions: "22.3", everywhere: true,
        symptom: "a row of chroma is written past the end of images whose height is not a multiple of 4",
        source: unrecorded)
    /// A fault that `Context` avoids: it refuses sizes outside of the limits.
    package static let acceptsAnySize = DriverQuirk(
        .radeonsi, versions: "22.3", everywhere: true,
        symptom: "vaCreateContext accepts every size, also negative ones, and encoding fails later",
        source: unrecorded)
    /// A fault that `HEVCStreamHeaders` avoids: it writes the field before the HRD parameters.
    package static let findsHRDAfterTicks = DriverQuirk(
        .radeonsi, versions: "25", everywhere: true,
        symptom: "HEVC's HRD parameters are found only after vui_num_ticks_poc_diff_one_minus1",
        source: unrecorded)
    /// A missing answer that `EncodeCapabilities` replaces: a driver that reports no slice structure gets slices of
    /// equal length.
    package static let hidesSliceStructure = DriverQuirk(
        .radeonsi, versions: "the first VCN", everywhere: true,
        symptom: "no slice structure is reported, and all slices have the length of the first",
        source: "the capabilities of Mesa 22.3.6 on Raven, which report a number of slices and no structure")
    package static let rewritesParameterSets = DriverQuirk(
        .radeonsi, versions: "25",
        symptom: "parameter sets and slice headers are parsed and written again with other numbers (pic_init_qp 26)",
        source: "Mesa 25.0.7, run on a faked kernel")
    package static let ownHEVCSlices = DriverQuirk(
        .radeonsi, versions: "all",
        symptom:
            "HEVC slices that are not equal rows, or have fewer than four coding tree blocks, get other addresses than those in the client's headers",
        source: "Mesa's radeon_vcn_enc_1_2.c: hevc_slice_ctrl has slices of one size")
    package static let rawDataAlone = DriverQuirk(
        .radeonsi, versions: "25",
        symptom: "an HEVC picture fails if it has a packed message before its slices and no other packed header",
        source: "Mesa 25.0.7, run on a faked kernel")
    package static let noSliceHeaders = DriverQuirk(
        .radeonsi, versions: "22.3 and 24.0",
        symptom: """
            no packed slice header is accepted, VACodedBufferSegment.status is unset, and all pictures take the QP of the first \
            picture's pic_init_qp
            """,
        source: "Mesa 22.3.6, run on a faked kernel")
    package static let smallMinimum = DriverQuirk(
        .radeonsi, versions: "before 25", symptom: "the minimum of 256×128 is not reported",
        source: "the capabilities of Mesa 22.3.6 and 25.0.7")
    package static let qualityIsBitField = DriverQuirk(
        .radeonsi, versions: "all",
        symptom: "VAConfigAttribEncQualityRange and the quality level are a bit field (vlVaQualityBits)",
        source: "Mesa's va_private.h")
    package static let hevcBlocksAreUnreported = DriverQuirk(
        .radeonsi, versions: "22.3",
        symptom: "HEVC does not report its block sizes: coding tree blocks of 64×64, no split of inter transforms",
        source: "FFmpeg's defaults for a driver that does not answer")
    package static let hevcWidthStep = DriverQuirk(
        .radeonsi, versions: "all",
        symptom: "HEVC codes widths in steps of 64, and reports this only from VA-API 1.21 on",
        source: "obs-studio issue 10953")
    package static let derivesPartOfSurfaces = DriverQuirk(
        .radeonsi, versions: "22", endsBefore: 25,
        symptom: """
            vaDeriveImage maps no NV12 surface. If the GPU has its own memory (seen on Navi 10), a P010 surface is mapped as a \
            copy of the luma plane only, and writes to the chroma plane corrupt the memory behind it
            """,
        source: "Mesa 22.3.6 and 25.0.7, run on a faked kernel")
    package static let oneResultForEachSurface = DriverQuirk(
        .radeonsi, versions: "22.3 to 24", endsBefore: 25,
        symptom: """
            the result of an encode is stored with its input surface. If two encoders read one surface, waiting for the first \
            returns the size of the second
            """,
        source: "vlVaEndPicture and vlVaSyncSurface in Mesa's picture.c and surface.c")
    package static let mapsByCopy = DriverQuirk(
        .radeonsi, versions: "all", symptom: "surfaces are tiled, and mapping one copies it; Mesa 22 maps none of NV12",
        source: "Mesa 22.3.6 and 25.0.7, run on a faked kernel")
    package static let ignoresUserMemory = DriverQuirk(
        .i965, versions: "2.4", symptom: "the program's memory (USER_PTR) is reported as supported, and vaCreateSurfaces ignores it",
        source: "i965_CreateSurfaces2 in intel-vaapi-driver, and its issue 504")
    package static let hidesUserMemory = DriverQuirk(
        .iHD, versions: "all",
        symptom: "on some GPUs, encoders do not report that they read the program's memory (USER_PTR), although vaCreateSurfaces accepts it",
        source: "iHD 23.1 and 25.2 for Tiger Lake and Ice Lake, run on a faked kernel")
    package static let uncachedUserMemory = DriverQuirk(
        .iHD, versions: "all", symptom: "with the kernel driver xe, the cache mode of the program's memory (USER_PTR) is not set",
        source: "mos_bo_alloc_userptr_xe in Intel's media driver")

    /// All quirks.
    package static let all = [
        mapsAfterSurfaceSync, referencesAreUnion, minimumIsUnreported, threeQualityLevels, hevcToolsAreUnreported,
        vdencReferences, freeBuildEncodesNothing, lowPowerNeedsFirmware, movesEntryPoints, refusesQualityLevels,
        misplacesImageChroma, needsEqualSAOFlags, needsWholeLastSlice, crashesWithoutPictureParameters,
        chainsCodedSegments, losesUnlistedReferences, ownHEVCParameterSets, writesPastImages, acceptsAnySize,
        findsHRDAfterTicks, hidesSliceStructure,
        rewritesParameterSets, ownHEVCSlices, rawDataAlone, noSliceHeaders, smallMinimum, qualityIsBitField,
        hevcBlocksAreUnreported, hevcWidthStep, derivesPartOfSurfaces, oneResultForEachSurface,
        mapsByCopy, ignoresUserMemory, hidesUserMemory, uncachedUserMemory,
    ]
}
