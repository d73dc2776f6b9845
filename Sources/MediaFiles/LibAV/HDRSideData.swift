import CLibAV
import LibAV
import NALUnits
import VideoBase

/// Reads HDR metadata that FFmpeg attaches to streams and pictures.
enum HDRSideData {
    // SAFETY: for all functions, the caller keeps the frame or the bytes valid during the call, and side data has the
    // size that it states.

    /// Reads AVMasteringDisplayMetadata.
    /// - Returns: The display; nil if the data is incomplete or describes an impossible display, which no encoder
    ///   accepts.
    @unsafe static func masteringDisplay(_ bytes: UnsafePointer<UInt8>, _ size: Int) -> MasteringDisplay? {
        var display = VaencMasteringDisplay()
        guard unsafe vaenc_read_mastering_display(bytes, size, &display) else { return nil }
        let known = MasteringDisplay(display)
        return known.isPossible ? known : nil
    }

    @unsafe static func contentLight(_ bytes: UnsafePointer<UInt8>, _ size: Int) -> ContentLight? {
        var content: UInt32 = 0
        var average: UInt32 = 0
        guard unsafe vaenc_read_content_light(bytes, size, &content, &average), content | average != 0 else { return nil }
        return ContentLight(
            maxContentLight: UInt16(clamping: content), maxFrameAverageLight: UInt16(clamping: average))
    }

    @unsafe static func masteringDisplay(
        _ frame: UnsafePointer<AVFrame>, _ av: UnsafePointer<VaencLibAV>
    ) -> MasteringDisplay? {
        guard let data = unsafe find(AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, in: frame, av: av) else { return nil }
        return unsafe masteringDisplay(data.data, data.size)
    }

    @unsafe static func contentLight(_ frame: UnsafePointer<AVFrame>, _ av: UnsafePointer<VaencLibAV>) -> ContentLight? {
        guard let data = unsafe find(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, in: frame, av: av) else { return nil }
        return unsafe contentLight(data.data, data.size)
    }

    /// Returns the display matrix of a picture, such as that of a photo's EXIF orientation; empty if there is none.
    @unsafe static func displayMatrix(_ frame: UnsafePointer<AVFrame>, _ av: UnsafePointer<VaencLibAV>) -> [Int32] {
        guard let data = unsafe find(AV_FRAME_DATA_DISPLAYMATRIX, in: frame, av: av), unsafe data.size >= 36 else {
            return []
        }
        return (0..<9).map { unsafe UnsafeRawPointer(data.data).loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
    }

    private static func find(
        _ type: AVFrameSideDataType, in frame: UnsafePointer<AVFrame>, av: UnsafePointer<VaencLibAV>
    ) -> AVFrameSideData? {
        unsafe av.pointee.av_frame_get_side_data!(frame, type)?.pointee
    }

    /// Returns HDR10+ metadata (SMPTE ST 2094-40) in the form of user_data_registered_itu_t_t35; empty if the picture
    /// has none. FFmpeg before 6.1 has no writer for it.
    @unsafe static func dynamic(_ frame: UnsafePointer<AVFrame>, _ av: UnsafePointer<VaencLibAV>) -> [UInt8] {
        guard let data = unsafe find(AV_FRAME_DATA_DYNAMIC_HDR_PLUS, in: frame, av: av),
            unsafe data.size >= MemoryLayout<AVDynamicHDRPlus>.size
        else { return [] }
        return unsafe UnsafeRawPointer(data.data).load(as: AVDynamicHDRPlus.self).registeredUserData
    }
}

extension AVDynamicHDRPlus {
    /// The bytes from itu_t_t35_country_code on, in the order and units of ST 2094-40 (as in CTA-861 annex S).
    fileprivate var registeredUserData: [UInt8] {
        var w = BitWriter()
        // The United States, Samsung, HDR10+, application 4.
        w.append([0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04])
        w.field(8, Int(application_version))
        let windows = elements(of: params, as: AVHDRPlusColorTransformParams.self).prefix(max(Int(num_windows), 1))
        w.field(2, windows.count)
        for window in windows.dropFirst() { window.writeShape(to: &w) }
        w.field(27, steps(targeted_system_display_maximum_luminance, 1))
        Self.writeGrid(
            targeted_system_display_actual_peak_luminance_flag != 0,
            rows: Int(num_rows_targeted_system_display_actual_peak_luminance),
            columns: Int(num_cols_targeted_system_display_actual_peak_luminance),
            values: elements(of: targeted_system_display_actual_peak_luminance, as: AVRational.self), to: &w)
        for window in windows { window.writeLight(to: &w) }
        Self.writeGrid(
            mastering_display_actual_peak_luminance_flag != 0,
            rows: Int(num_rows_mastering_display_actual_peak_luminance),
            columns: Int(num_cols_mastering_display_actual_peak_luminance),
            values: elements(of: mastering_display_actual_peak_luminance, as: AVRational.self), to: &w)
        for window in windows { window.writeMapping(to: &w) }
        while !w.isByteAligned { w.field(1, 0) }
        return w.bytes
    }

    /// Writes the peak luminances of a grid of at most 25 by 25. Rows in memory have 25 values.
    private static func writeGrid(_ isThere: Bool, rows: Int, columns: Int, values: [AVRational], to w: inout BitWriter) {
        w.field(1, isThere ? 1 : 0)
        guard isThere else { return }
        let (rows, columns) = (min(rows, 25), min(columns, 25))
        w.field(5, rows)
        w.field(5, columns)
        for row in 0..<rows { for column in 0..<columns { w.field(4, steps(values[row * 25 + column], 15)) } }
    }
}

extension AVHDRPlusColorTransformParams {
    fileprivate func writeShape(to w: inout BitWriter) {
        let corners = [
            window_upper_left_corner_x, window_upper_left_corner_y, window_lower_right_corner_x, window_lower_right_corner_y,
        ]
        for corner in corners { w.field(16, steps(corner, 1)) }
        w.field(16, Int(center_of_ellipse_x))
        w.field(16, Int(center_of_ellipse_y))
        w.field(8, Int(rotation_angle))
        w.field(16, Int(semimajor_axis_internal_ellipse))
        w.field(16, Int(semimajor_axis_external_ellipse))
        w.field(16, Int(semiminor_axis_external_ellipse))
        w.field(1, Int(overlap_process_option.rawValue))
    }

    fileprivate func writeLight(to w: inout BitWriter) {
        for value in elements(of: maxscl, as: AVRational.self) { w.field(17, steps(value, 100_000)) }
        w.field(17, steps(average_maxrgb, 100_000))
        let percentiles = elements(of: distribution_maxrgb, as: AVHDRPlusPercentile.self)
            .prefix(Int(num_distribution_maxrgb_percentiles))
        w.field(4, percentiles.count)
        for percentile in percentiles {
            w.field(7, Int(percentile.percentage))
            w.field(17, steps(percentile.percentile, 100_000))
        }
        w.field(10, steps(fraction_bright_pixels, 1000))
    }

    fileprivate func writeMapping(to w: inout BitWriter) {
        w.field(1, tone_mapping_flag != 0 ? 1 : 0)
        if tone_mapping_flag != 0 {
            w.field(12, steps(knee_point_x, 4095))
            w.field(12, steps(knee_point_y, 4095))
            let anchors = elements(of: bezier_curve_anchors, as: AVRational.self).prefix(Int(num_bezier_curve_anchors))
            w.field(4, anchors.count)
            for anchor in anchors { w.field(10, steps(anchor, 1023)) }
        }
        w.field(1, color_saturation_mapping_flag != 0 ? 1 : 0)
        if color_saturation_mapping_flag != 0 { w.field(6, steps(color_saturation_weight, 8)) }
    }
}

/// Returns a fraction in steps of 1/`unit`.
private func steps(_ value: AVRational, _ unit: UInt32) -> Int { Int(vaenc_steps(value, Int64(unit))) }

/// Returns the elements of a C array, which Swift imports as a tuple (of tuples).
private func elements<Tuple: BitwiseCopyable, Element: BitwiseCopyable>(of tuple: Tuple, as type: Element.Type) -> [Element] {
    unsafe withUnsafeBytes(of: tuple) { bytes in
        // SAFETY: the tuple is an array of `Element` in C, in its own memory.
        (0..<bytes.count / MemoryLayout<Element>.stride).map {
            unsafe bytes.load(fromByteOffset: $0 * MemoryLayout<Element>.stride, as: type)
        }
    }
}

extension BitWriter {
    /// Writes the value as u(n), clamped to the range of `bits` bits.
    fileprivate mutating func field(_ bits: Int, _ value: Int) { u(bits, min(max(value, 0), 1 << bits - 1)) }
}
