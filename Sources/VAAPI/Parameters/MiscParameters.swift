internal import CVA
package import VideoBase

/// Settings that may change from picture to picture: VAEncMiscParameterBuffer.
package enum MiscParameters: ParameterBuffer, Sendable, Hashable {
    case rateControl(RateControl)
    case frameRate(Rational, temporalLayer: UInt8)
    /// The size of the HRD buffer and its initial fullness, in bits.
    case hrd(bufferSize: UInt32, initialFullness: UInt32)
    /// The quality level, from 1 (the best) to the driver's number of levels. On radeonsi, a bit field.
    case qualityLevel(UInt32)
    /// The maximum frame size in bits.
    case maxFrameSize(UInt32)
    /// The maximum slice size in bits.
    case maxSliceSize(UInt32)
    case trellis(i: Bool, p: Bool, b: Bool)
    case intraRefresh(IntraRefresh)
    case regionsOfInterest(RegionsOfInterest)
    /// The number of temporal layers, and the layer of each picture after the first. The pattern repeats and has at
    /// most 32 entries.
    case temporalLayers(count: UInt32, layerOfEachFrame: [UInt32])

    /// The rate control settings: VAEncMiscParameterRateControl.
    package struct RateControl: Sendable, Hashable {
        /// The maximum bit rate in bits per second.
        package var bits_per_second: UInt32 = 0
        /// The target bit rate as a percentage of `bits_per_second`, 0…100.
        package var target_percentage: UInt32 = 100
        /// The length of the rate control window in milliseconds.
        package var window_size: UInt32 = 1000
        package var initial_qp: UInt32 = 0
        package var min_qp: UInt32 = 0
        package var max_qp: UInt32 = 0
        package var basic_unit_size: UInt32 = 0
        /// The quality factor for ICQ, 1…51.
        package var ICQ_quality_factor: UInt32 = 0
        /// The quality factor for QVBR, 1…51.
        package var quality_factor: UInt32 = 0
        package var reset = false
        package var disable_frame_skip = true
        package var disable_bit_stuffing = true
        /// The rate control per macroblock: 0 chosen by the driver, 1 on, 2 off.
        package var mb_rate_control: UInt32 = 0
        package var temporal_id: UInt32 = 0
        /// Whether intra pictures, too, must keep the constant frame size.
        package var cfs_I_frames = false
        /// Whether hierarchical B pictures are controlled in parallel (VA_RC_PARALLEL).
        package var enable_parallel_brc = false
        package var enable_dynamic_scaling = false
        package var frame_tolerance_mode = FrameTolerance.normal
        /// The desired size of the next pictures in bytes, for transport-controlled rate control; 0 for none.
        package var target_frame_size: UInt32 = 0
        package init() {}

        /// The allowed variation of frame sizes, if the driver supports VAConfigAttribFrameSizeToleranceSupport.
        package enum FrameTolerance: UInt32, Sendable, Hashable {
            case normal = 0, slidingWindow = 1, lowDelay = 2
        }
    }

    /// Intra refresh by a column or row of intra macroblocks that moves from picture to picture: VAEncMiscParameterRIR.
    package struct IntraRefresh: Sendable, Hashable {
        package enum Direction: Sendable, Hashable { case columns, rows }
        package var direction: Direction
        package var intra_insertion_location: UInt16
        package var intra_insert_size: UInt16
        package var qp_delta_for_inserted_intra: UInt8
        package init(
            direction: Direction, intra_insertion_location: UInt16, intra_insert_size: UInt16,
            qp_delta_for_inserted_intra: UInt8 = 0
        ) {
            self.direction = direction
            self.intra_insertion_location = intra_insertion_location
            self.intra_insert_size = intra_insert_size
            self.qp_delta_for_inserted_intra = qp_delta_for_inserted_intra
        }
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        switch self {
        case .rateControl(let control):
            unsafe withBytes(VAEncMiscParameterTypeRateControl, Self.lower(control), to: body)
        case .frameRate(let rate, let layer):
            var c = VAEncMiscParameterFrameRate()
            c.framerate = Self.frameRateWord(rate)
            unsafe c.framerate_flags.bits.temporal_id = UInt32(layer)
            unsafe withBytes(VAEncMiscParameterTypeFrameRate, c, to: body)
        case .hrd(let size, let fullness):
            var c = VAEncMiscParameterHRD()
            c.buffer_size = size
            c.initial_buffer_fullness = fullness
            unsafe withBytes(VAEncMiscParameterTypeHRD, c, to: body)
        case .qualityLevel(let level):
            var c = VAEncMiscParameterBufferQualityLevel()
            c.quality_level = level
            unsafe withBytes(VAEncMiscParameterTypeQualityLevel, c, to: body)
        case .maxFrameSize(let bits):
            // The first member of VAEncMiscParameterBufferMaxFrameSize, an unused type, is deprecated. Therefore the
            // size is written by its offset.
            var words = [UInt32](repeating: 0, count: MemoryLayout<VAEncMiscParameterBufferMaxFrameSize>.size / 4)
            words[1] = bits
            unsafe withBytes(VAEncMiscParameterTypeMaxFrameSize, words, to: body)
        case .maxSliceSize(let bits):
            var c = VAEncMiscParameterMaxSliceSize()
            c.max_slice_size = bits
            unsafe withBytes(VAEncMiscParameterTypeMaxSliceSize, c, to: body)
        case .trellis(let i, let p, let b):
            var c = VAEncMiscParameterQuantization()
            unsafe c.quantization_flags.bits.disable_trellis = i || p || b ? 0 : 1
            unsafe c.quantization_flags.bits.enable_trellis_I = i ? 1 : 0
            unsafe c.quantization_flags.bits.enable_trellis_P = p ? 1 : 0
            unsafe c.quantization_flags.bits.enable_trellis_B = b ? 1 : 0
            unsafe withBytes(VAEncMiscParameterTypeQuantization, c, to: body)
        case .intraRefresh(let refresh):
            var c = VAEncMiscParameterRIR()
            unsafe c.rir_flags.bits.enable_rir_column = refresh.direction == .columns ? 1 : 0
            unsafe c.rir_flags.bits.enable_rir_row = refresh.direction == .rows ? 1 : 0
            c.intra_insertion_location = refresh.intra_insertion_location
            c.intra_insert_size = refresh.intra_insert_size
            c.qp_delta_for_inserted_intra = refresh.qp_delta_for_inserted_intra
            unsafe withBytes(VAEncMiscParameterTypeRIR, c, to: body)
        case .regionsOfInterest(let regions):
            unsafe withBytes(VAEncMiscParameterTypeROI, regions.lowered, to: body)
        case .temporalLayers(let count, let layers):
            // The layout: number_of_layers, periodicity, layer_id[32], reserved.
            var words = [UInt32](repeating: 0, count: MemoryLayout<VAEncMiscParameterTemporalLayerStructure>.size / 4)
            words[0] = count
            words[1] = UInt32(min(layers.count, 32))
            for (index, layer) in layers.prefix(32).enumerated() { words[2 + index] = layer }
            unsafe withBytes(VAEncMiscParameterTypeTemporalLayerStructure, words, to: body)
        }
    }

    /// The list of regions, to which the driver receives a pointer.
    package var retained: AnyObject? {
        if case .regionsOfInterest(let regions) = self { regions.list } else { nil }
    }

    private static func lower(_ control: RateControl) -> VAEncMiscParameterRateControl {
        var c = VAEncMiscParameterRateControl()
        c.bits_per_second = control.bits_per_second
        c.target_percentage = control.target_percentage
        c.window_size = control.window_size
        c.initial_qp = control.initial_qp
        c.min_qp = control.min_qp
        c.max_qp = control.max_qp
        c.basic_unit_size = control.basic_unit_size
        c.ICQ_quality_factor = control.ICQ_quality_factor
        c.quality_factor = control.quality_factor
        unsafe c.rc_flags.bits.reset = control.reset ? 1 : 0
        unsafe c.rc_flags.bits.disable_frame_skip = control.disable_frame_skip ? 1 : 0
        unsafe c.rc_flags.bits.disable_bit_stuffing = control.disable_bit_stuffing ? 1 : 0
        unsafe c.rc_flags.bits.mb_rate_control = control.mb_rate_control
        unsafe c.rc_flags.bits.temporal_id = control.temporal_id
        unsafe c.rc_flags.bits.cfs_I_frames = control.cfs_I_frames ? 1 : 0
        unsafe c.rc_flags.bits.enable_parallel_brc = control.enable_parallel_brc ? 1 : 0
        unsafe c.rc_flags.bits.enable_dynamic_scaling = control.enable_dynamic_scaling ? 1 : 0
        unsafe c.rc_flags.bits.frame_tolerance_mode = control.frame_tolerance_mode.rawValue
        c.target_frame_size = control.target_frame_size
        return c
    }

    /// Returns the frame rate in VA-API's form: the denominator in the high 16 bits, the numerator in the low 16. If
    /// the reduced ratio does not fit, the nearest ratio with the largest denominator that fits is used.
    static func frameRateWord(_ rate: Rational) -> UInt32 {
        let reduced = rate.reduced
        let numerator = max(reduced.numerator, 1)
        let denominator = reduced.denominator
        if numerator <= 0xffff, denominator <= 0xffff { return UInt32(denominator) << 16 | UInt32(numerator) }
        let value = Double(numerator) / Double(denominator)
        let scale = min(max((65535 / value).rounded(.down), 1), 65535)
        return UInt32(scale) << 16 | UInt32(min(max((value * scale).rounded(), 1), 65535))
    }

    /// Passes the type tag and the struct behind it to `body`.
    private func withBytes<T>(
        _ type: VAEncMiscParameterType, _ value: T, to body: (BufferType, UnsafeRawBufferPointer) -> Void
    ) {
        unsafe withUnsafeBytes(of: value) { unsafe withBytes(type, bytes: $0, to: body) }
    }

    private func withBytes(
        _ type: VAEncMiscParameterType, _ words: [UInt32], to body: (BufferType, UnsafeRawBufferPointer) -> Void
    ) {
        unsafe words.withUnsafeBytes { unsafe withBytes(type, bytes: $0, to: body) }
    }

    @unsafe private func withBytes(
        _ type: VAEncMiscParameterType, bytes: UnsafeRawBufferPointer,
        to body: (BufferType, UnsafeRawBufferPointer) -> Void
    ) {
        unsafe withUnsafeTemporaryAllocation(byteCount: 4 + bytes.count, alignment: 8) { whole in
            unsafe whole.storeBytes(of: type.rawValue, as: UInt32.self)
            unsafe UnsafeMutableRawBufferPointer(rebasing: whole[4...]).copyMemory(from: bytes)
            unsafe body(.misc, UnsafeRawBufferPointer(whole))
        }
    }
}
