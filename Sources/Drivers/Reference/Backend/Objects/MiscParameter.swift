internal import CVA

/// The trellis setting of VAEncMiscParameterQuantization.
struct Trellis {
    /// The quantization flags. Without flags, the driver chooses.
    private var flags: UInt32 = 0

    init() {}
    init(_ parameters: VAEncMiscParameterQuantization) { flags = unsafe parameters.quantization_flags.value }

    /// Whether the client requests trellis quantization for slices of a type, or nil if the quality level decides.
    func isRequested(for type: SliceType) -> Bool? {
        if flags & 1 != 0 { return false }
        let bit: UInt32 =
            switch type {
            case .i: 2
            case .p: 4
            case .b: 8
            }
        return flags & 0b1110 == 0 ? nil : flags & bit != 0
    }
}

/// A parsed misc parameter buffer.
enum MiscParameter {
    case frameRate(VAEncMiscParameterFrameRate)
    case rateControl(VAEncMiscParameterRateControl)
    case hrd(VAEncMiscParameterHRD)
    /// The quality level, or 0 for the driver's default.
    case qualityLevel(UInt32)
    /// The maximum size of a picture in bits. A larger picture gets the overflow flag.
    case maximumFrameSize(UInt32)
    /// The maximum size of a slice in bits, or 0 for no limit.
    case maximumSliceSize(UInt32)
    case temporalLayers(TemporalLayers)
    /// The regions of interest of the next picture only.
    case regions(QPRegions)
    /// The intra refresh of the next picture only.
    case intraRefresh(VAEncMiscParameterRIR)
    /// The skipped pictures before the next picture, for that picture only.
    case skippedPictures(VAEncMiscParameterSkipFrame)
    /// Whether coefficient levels are chosen by their cost (trellis quantization).
    case trellis(Trellis)
    /// A hint for hardware encoders, which has no effect in this driver.
    case hint

    /// The size of `VAEncMiscParameterBuffer` before its data, in bytes.
    static let headerBytes = MemoryLayout<VAEncMiscParameterBuffer>.size

    /// Parses a buffer. Throws UNIMPLEMENTED if the config's entry does not support its type.
    init(_ buffer: Buffer, for config: Config.Choice, _ environment: Environment) throws {
        let entry = config.entry
        let memory = try buffer.data()
        let header = try buffer.element(VAEncMiscParameterBuffer.self)
        switch header.type {
        case VAEncMiscParameterTypeFrameRate: self = .frameRate(try Self.body(memory))
        case VAEncMiscParameterTypeRateControl: self = .rateControl(try Self.body(memory))
        case VAEncMiscParameterTypeHRD: self = .hrd(try Self.body(memory))
        case VAEncMiscParameterTypeQualityLevel:
            let level: VAEncMiscParameterBufferQualityLevel = try Self.body(memory)
            self = .qualityLevel(level.quality_level)
        case VAEncMiscParameterTypeMaxFrameSize:
            let limit: VAEncMiscParameterBufferMaxFrameSize = try Self.body(memory)
            self = .maximumFrameSize(limit.max_frame_size)
        case VAEncMiscParameterTypeMaxSliceSize where entry.supportsSliceSizeLimit:
            let limit: VAEncMiscParameterMaxSliceSize = try Self.body(memory)
            self = .maximumSliceSize(limit.max_slice_size)
        case VAEncMiscParameterTypeTemporalLayerStructure where entry.maximumTemporalLayers > 1:
            self = .temporalLayers(
                try TemporalLayers(try Self.body(memory), maximum: entry.maximumTemporalLayers))
        case VAEncMiscParameterTypeROI where entry.maximumRegions > 0:
            self = .regions(try unsafe QPRegions(Self.body(memory), entry))
        case VAEncMiscParameterTypeRIR where entry.value(VAConfigAttribEncIntraRefresh) ?? 0 != 0:
            self = .intraRefresh(try Self.body(memory))
        case VAEncMiscParameterTypeSkipFrame where entry.value(VAConfigAttribEncSkipFrame) ?? 0 != 0:
            self = .skippedPictures(try Self.body(memory))
        case VAEncMiscParameterTypeMultiPassFrameSize where (entry.value(VAConfigAttribMaxFrameSize) ?? 0) & 2 != 0:
            // The limit is in bytes. The rate controller itself chooses the number of passes and their QPs.
            let limit: VAEncMiscParameterBufferMultiPassFrameSize = try unsafe Self.body(memory)
            self = .maximumFrameSize(unsafe UInt32(clamping: 8 * UInt64(limit.max_frame_size)))
        case VAEncMiscParameterTypeQuantization where entry.value(VAConfigAttribEncQuantization) ?? 0 != 0:
            self = .trellis(Trellis(try Self.body(memory)))
        case VAEncMiscParameterTypeDirtyRect where entry.value(VAConfigAttribEncDirtyRect) ?? 0 != 0,
            VAEncMiscParameterTypeParallelBRC where entry.value(VAConfigAttribEncParallelRateControl) ?? 0 != 0:
            self = .hint
        default:
            throw Refusal.unimplemented("misc parameters of type \(header.type.rawValue) are not supported")
        }
        try check(entry)
        try checkRates(config, environment)
    }

    private static func body<Value>(_ memory: HostMemory) throws -> Value {
        guard let value = memory.load(Value.self, at: headerBytes) else {
            throw Refusal.invalidParameter("the misc parameter buffer is too small for its type")
        }
        return value
    }

    private func check(_ entry: Capabilities.Entry) throws {
        switch self {
        case .frameRate(let rate):
            guard rate.framerate == 0 || rate.framerate & 0xffff != 0 else {
                throw Refusal.invalidParameter("the frame rate is 0")
            }
            try checkLayer(Int(unsafe rate.framerate_flags.bits.temporal_id), entry)
        case .rateControl(let control):
            guard control.initial_qp <= 51, control.min_qp <= 51, control.max_qp <= 51,
                control.max_qp == 0 || control.min_qp <= control.max_qp
            else { throw Refusal.invalidParameter("a QP of the rate control is outside 0…51") }
            try checkLayer(Int(unsafe control.rc_flags.bits.temporal_id), entry)
            guard control.ICQ_quality_factor <= 51 else {
                throw Refusal.invalidParameter("the ICQ quality factor \(control.ICQ_quality_factor) is out of range")
            }
        case .hrd(let hrd):
            guard hrd.initial_buffer_fullness <= hrd.buffer_size || hrd.buffer_size == 0 else {
                throw Refusal.invalidParameter("the HRD buffer's initial fullness exceeds its size")
            }
        case .skippedPictures(let skip):
            guard skip.skip_frame_flag <= 2 else {
                throw Refusal.invalidParameter("skip_frame_flag \(skip.skip_frame_flag) is not supported")
            }
        case .qualityLevel, .maximumFrameSize, .maximumSliceSize, .temporalLayers, .regions, .intraRefresh, .trellis,
            .hint:
            break
        }
    }

    /// Checks values that drivers interpret differently.
    private func checkRates(_ config: Config.Choice, _ environment: Environment) throws {
        switch (self, config.rateMode) {
        case (.frameRate(let rate), _):
            try environment.prefer(rate.framerate != 0, .frameRate, "a frame rate of 0")
        case (.rateControl(let control), .constantBitRate), (.rateControl(let control), .variableBitRate),
            (.rateControl(let control), .qualityVariableBitRate):
            try environment.prefer(
                (1...100).contains(control.target_percentage), .targetPercentage,
                "a target_percentage of \(control.target_percentage)")
        default: break
        }
    }

    private func checkLayer(_ layer: Int, _ entry: Capabilities.Entry) throws {
        guard layer == 0 || layer < entry.maximumTemporalLayers && entry.supportsTemporalLayerRates else {
            throw Refusal.invalidParameter("parameters for temporal layer \(layer) are not supported")
        }
    }
}
