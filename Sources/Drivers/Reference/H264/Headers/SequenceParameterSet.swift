/// The H.264 profiles of the driver, with their profile_idc and constraint flags.
package enum DriverProfile: Sendable {
    case constrainedBaseline, main, high

    package var profileIdc: UInt8 {
        switch self {
        case .constrainedBaseline: 66
        case .main: 77
        case .high: 100
        }
    }

    /// The constraint flags, with constraint_set0_flag in the top bit.
    package var constraintFlags: UInt8 {
        switch self {
        case .constrainedBaseline: 0b1100_0000
        case .main: 0b0100_0000
        case .high: 0
        }
    }
}

/// seq_parameter_set_data, H.264 7.3.2.1.1, limited to what the driver writes and reads: 8-bit 4:2:0 without scaling
/// lists.
package struct SequenceParameterSet: Equatable, Sendable {
    package var profileIdc: UInt8 = 100
    package var constraintFlags: UInt8 = 0
    package var levelIdc: UInt8 = 40
    package var id = 0
    package var chromaFormatIdc = 1
    package var bitDepthLuma = 8
    package var bitDepthChroma = 8
    package var hasScalingLists = false
    package var log2MaxFrameNum = 4
    package var pictureOrderCountType = 0
    package var log2MaxPictureOrderCountLsb = 4
    package var deltaPicOrderAlwaysZero = false
    package var offsetForNonRefPic = 0
    package var offsetForTopToBottomField = 0
    /// offset_for_ref_frame, with one entry for each frame of the picture order count cycle.
    package var offsetsForRefFrame: [Int] = []
    package var maxNumRefFrames = 1
    package var gapsInFrameNumAllowed = false
    package var widthInMacroblocks = 1
    /// pic_height_in_map_units_minus1 + 1.
    package var heightInMapUnits = 1
    package var frameMbsOnly = true
    package var mbAdaptiveFrameField = false
    package var direct8x8Inference = true
    /// The cropping offsets, or nil if frame_cropping_flag is 0.
    package var cropping: Cropping?
    /// The VUI parameters, or nil if vui_parameters_present_flag is 0. They are written but not read.
    package var vui: VideoUsability?

    /// The frame_crop offsets, in units of 2 luma samples (4:2:0 frames).
    package struct Cropping: Equatable, Sendable {
        package var left: Int
        package var right: Int
        package var top: Int
        package var bottom: Int

        package init(left: Int = 0, right: Int = 0, top: Int = 0, bottom: Int = 0) {
            self.left = left
            self.right = right
            self.top = top
            self.bottom = bottom
        }
    }

    /// vui_parameters, E.1.1, limited to the fields of VA-API's buffer.
    package struct VideoUsability: Equatable, Sendable {
        /// aspect_ratio_idc, or nil if aspect_ratio_info_present_flag is 0. If it is 255, `sampleAspectRatio` has the
        /// width and height.
        var aspectRatioIdc: UInt8?
        var sampleAspectRatio = (width: UInt16(0), height: UInt16(0))
        var timing: Timing?
        var restriction: Restriction?

        package struct Timing: Equatable, Sendable {
            var numUnitsInTick: UInt32
            var timeScale: UInt32
            var fixedFrameRate: Bool
        }

        package struct Restriction: Equatable, Sendable {
            var motionVectorsOverPicBoundaries: Bool
            var log2MaxMvLengthHorizontal: Int
            var log2MaxMvLengthVertical: Int
            var maxNumReorderFrames: Int
            var maxDecFrameBuffering: Int
        }

        /// Makes parameters in which nothing is present.
        init() {}

        /// Makes parameters in which only bitstream_restriction is present.
        package init(maxNumReorderFrames: Int, maxDecFrameBuffering: Int) {
            restriction = Restriction(
                motionVectorsOverPicBoundaries: true, log2MaxMvLengthHorizontal: 16, log2MaxMvLengthVertical: 16,
                maxNumReorderFrames: maxNumReorderFrames, maxDecFrameBuffering: maxDecFrameBuffering)
        }

        package static func == (a: VideoUsability, b: VideoUsability) -> Bool {
            a.aspectRatioIdc == b.aspectRatioIdc && a.sampleAspectRatio == b.sampleAspectRatio
                && a.timing == b.timing && a.restriction == b.restriction
        }
    }

    package init() {}

    /// Returns whether parameter sets of a profile contain chroma_format_idc and the fields after it, 7.3.2.1.1.
    package static func hasChromaFormat(_ profileIdc: UInt8) -> Bool {
        [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135].contains(profileIdc)
    }
}

// MARK: Writing

extension SequenceParameterSet {
    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        write(to: &bits)
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 0x67])
    }

    private func write(to bits: inout HeaderBitWriter) {
        bits.put(UInt32(profileIdc), 8)
        bits.put(UInt32(constraintFlags), 8)
        bits.put(UInt32(levelIdc), 8)
        bits.putUnsigned(id)
        if Self.hasChromaFormat(profileIdc) {
            bits.putUnsigned(chromaFormatIdc)
            bits.putUnsigned(bitDepthLuma - 8)
            bits.putUnsigned(bitDepthChroma - 8)
            bits.put(false)  // qpprime_y_zero_transform_bypass_flag
            bits.put(false)  // seq_scaling_matrix_present_flag
        }
        bits.putUnsigned(log2MaxFrameNum - 4)
        bits.putUnsigned(pictureOrderCountType)
        if pictureOrderCountType == 0 {
            bits.putUnsigned(log2MaxPictureOrderCountLsb - 4)
        } else if pictureOrderCountType == 1 {
            bits.put(deltaPicOrderAlwaysZero)
            bits.putSigned(offsetForNonRefPic)
            bits.putSigned(offsetForTopToBottomField)
            bits.putUnsigned(offsetsForRefFrame.count)
            for offset in offsetsForRefFrame { bits.putSigned(offset) }
        }
        bits.putUnsigned(maxNumRefFrames)
        bits.put(gapsInFrameNumAllowed)
        bits.putUnsigned(widthInMacroblocks - 1)
        bits.putUnsigned(heightInMapUnits - 1)
        bits.put(frameMbsOnly)
        if !frameMbsOnly { bits.put(mbAdaptiveFrameField) }
        bits.put(direct8x8Inference)
        bits.put(cropping != nil)
        if let cropping {
            bits.putUnsigned(cropping.left)
            bits.putUnsigned(cropping.right)
            bits.putUnsigned(cropping.top)
            bits.putUnsigned(cropping.bottom)
        }
        bits.put(vui != nil)
        if let vui { write(vui, to: &bits) }
    }

    private func write(_ vui: VideoUsability, to bits: inout HeaderBitWriter) {
        bits.put(vui.aspectRatioIdc != nil)
        if let idc = vui.aspectRatioIdc {
            bits.put(UInt32(idc), 8)
            if idc == 255 {
                bits.put(UInt32(vui.sampleAspectRatio.width), 16)
                bits.put(UInt32(vui.sampleAspectRatio.height), 16)
            }
        }
        bits.put(false)  // overscan_info_present_flag
        bits.put(false)  // video_signal_type_present_flag
        bits.put(false)  // chroma_loc_info_present_flag
        bits.put(vui.timing != nil)
        if let timing = vui.timing {
            bits.put(timing.numUnitsInTick, 32)
            bits.put(timing.timeScale, 32)
            bits.put(timing.fixedFrameRate)
        }
        bits.put(false)  // nal_hrd_parameters_present_flag
        bits.put(false)  // vcl_hrd_parameters_present_flag
        bits.put(false)  // pic_struct_present_flag
        bits.put(vui.restriction != nil)
        if let restriction = vui.restriction {
            bits.put(restriction.motionVectorsOverPicBoundaries)
            bits.putUnsigned(0)  // max_bytes_per_pic_denom: no limit
            bits.putUnsigned(0)  // max_bits_per_mb_denom: no limit
            bits.putUnsigned(restriction.log2MaxMvLengthHorizontal)
            bits.putUnsigned(restriction.log2MaxMvLengthVertical)
            bits.putUnsigned(restriction.maxNumReorderFrames)
            bits.putUnsigned(restriction.maxDecFrameBuffering)
        }
    }
}

// MARK: Reading

extension SequenceParameterSet {
    /// Reads the RBSP of a sequence parameter set, without its NAL unit header, up to the cropping offsets. Returns nil
    /// if the data ends too early or a value is out of range.
    package init?(rbsp: [UInt8]) {
        var bits = HeaderBitReader(rbsp, bitCount: 8 * rbsp.count)
        profileIdc = UInt8(bits.get(8))
        constraintFlags = UInt8(bits.get(8))
        levelIdc = UInt8(bits.get(8))
        id = bits.unsigned()
        if Self.hasChromaFormat(profileIdc) {
            chromaFormatIdc = bits.unsigned()
            if chromaFormatIdc == 3 { _ = bits.flag() }
            bitDepthLuma = 8 + bits.unsigned()
            bitDepthChroma = 8 + bits.unsigned()
            _ = bits.flag()
            hasScalingLists = bits.flag()
            if hasScalingLists { Self.skipScalingLists(&bits, count: chromaFormatIdc == 3 ? 12 : 8) }
        }
        log2MaxFrameNum = 4 + bits.unsigned()
        pictureOrderCountType = bits.unsigned()
        if pictureOrderCountType == 0 {
            log2MaxPictureOrderCountLsb = 4 + bits.unsigned()
        } else if pictureOrderCountType == 1 {
            deltaPicOrderAlwaysZero = bits.flag()
            offsetForNonRefPic = bits.signed()
            offsetForTopToBottomField = bits.signed()
            let count = bits.unsigned()
            guard count <= 255 else { return nil }
            offsetsForRefFrame = (0..<count).map { _ in bits.signed() }
        }
        maxNumRefFrames = bits.unsigned()
        gapsInFrameNumAllowed = bits.flag()
        widthInMacroblocks = bits.unsigned() + 1
        heightInMapUnits = bits.unsigned() + 1
        frameMbsOnly = bits.flag()
        if !frameMbsOnly { mbAdaptiveFrameField = bits.flag() }
        direct8x8Inference = bits.flag()
        if bits.flag() {
            let left = bits.unsigned()
            let right = bits.unsigned()
            let top = bits.unsigned()
            cropping = Cropping(left: left, right: right, top: top, bottom: bits.unsigned())
        }
        guard !bits.failed, id <= 31, log2MaxFrameNum <= 16, pictureOrderCountType <= 2,
            log2MaxPictureOrderCountLsb <= 16
        else { return nil }
    }

    /// Skips scaling_list, 7.3.2.1.1.1, `count` times, each with the flag before it.
    package static func skipScalingLists(_ bits: inout HeaderBitReader, count: Int) {
        for list in 0..<count where bits.flag() {
            var next = 8
            for _ in 0..<(list < 6 ? 16 : 64) where next != 0 { next = (next + bits.signed() + 256) & 255 }
        }
    }
}
