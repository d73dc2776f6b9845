internal import CVA

/// A misc parameter buffer as the H.264 encoder understands it.
enum MiscParameter {
    case frameRate(VAEncMiscParameterFrameRate)
    case rateControl(VAEncMiscParameterRateControl)
    case hrd(VAEncMiscParameterHRD)
    /// 0: the driver's default.
    case qualityLevel(UInt32)
    /// Bits; a larger picture gets its flag.
    case maximumFrameSize(UInt32)

    /// Bytes of `VAEncMiscParameterBuffer` before its data.
    static let headerBytes = MemoryLayout<VAEncMiscParameterBuffer>.size

    init(_ buffer: Buffer) throws {
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
        default:
            throw Refusal.unimplemented("misc parameters of type \(header.type.rawValue)")
        }
        try check()
    }

    private static func body<Value>(_ memory: HostMemory) throws -> Value {
        guard let value = memory.load(Value.self, at: headerBytes) else {
            throw Refusal.invalidParameter("a misc parameter buffer that is too small for its type")
        }
        return value
    }

    private func check() throws {
        switch self {
        case .frameRate(let rate):
            guard rate.framerate == 0 || rate.framerate & 0xffff != 0 else {
                throw Refusal.invalidParameter("a frame rate of 0")
            }
            guard unsafe rate.framerate_flags.bits.temporal_id == 0 else {
                throw Refusal.invalidParameter("a frame rate for a temporal layer")
            }
        case .rateControl(let control):
            guard control.initial_qp <= 51, control.min_qp <= 51, control.max_qp <= 51,
                control.max_qp == 0 || control.min_qp <= control.max_qp
            else { throw Refusal.invalidParameter("rate control with a QP outside 0…51") }
            guard unsafe control.rc_flags.bits.temporal_id == 0 else {
                throw Refusal.invalidParameter("rate control for a temporal layer")
            }
        case .hrd(let hrd):
            guard hrd.initial_buffer_fullness <= hrd.buffer_size || hrd.buffer_size == 0 else {
                throw Refusal.invalidParameter("an HRD buffer fuller than its size")
            }
        case .qualityLevel, .maximumFrameSize:
            break
        }
    }
}
