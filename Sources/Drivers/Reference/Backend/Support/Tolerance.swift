/// A deviation from va.h or from the codec that the driver accepts by default, because real drivers accept it and
/// clients depend on it. docs/REFERENCE-DRIVER.md lists the cases.
enum Tolerance: Sendable {
    /// A packed header of a type that the config does not include.
    case unnamedHeader
    /// A sequence whose size is smaller than that of its context.
    case contextSize
    /// A general_profile_idc that differs from the config's profile.
    case profile
    /// Samples of 8 bits in a config of 10 bits.
    case bitDepth
    /// A nal_unit_type that differs from that of the packed slice header or does not fit idr_pic_flag.
    case unitType
    /// A level that the codec does not define.
    case level
    /// A null pointer as the descriptor of external memory.
    case nullDescriptor
    /// A pixel format that does not match the surface's RT format or the context's bit depth.
    case surfaceFormat
    /// A buffer that the codec does not use, or that contains no data.
    case uselessBuffer
    /// Rate control flags without a mode.
    case rateControlFlags
    /// A target_percentage of 0 or above 100.
    case targetPercentage
    /// A frame rate of 0.
    case frameRate
    /// VUI timing information with a tick or a time scale of 0.
    case timing
    /// A max_num_ref_frames below the number of reference frames of a picture.
    case referenceCount
    /// A first picture of a stream that is not a random access picture.
    case firstPicture
    /// A slice header whose frame_num, picture order count or idr_pic_id differs from the buffers.
    case pictureNumbers
}

extension Environment {
    /// Throws `refusal` if VAENC_REFERENCE_STRICT=1. Otherwise writes a warning to stderr, once per process for each
    /// kind.
    func tolerate(_ kind: Tolerance, _ refusal: @autoclosure () -> Refusal) throws {
        let refusal = refusal()
        guard !isStrict else { throw refusal }
        DriverProcess.shared.warn(kind, refusal.reason)
    }

    /// Tolerates the deviation if `condition` does not hold. In strict mode, throws an INVALID_PARAMETER error instead.
    func prefer(_ condition: Bool, _ kind: Tolerance, _ reason: @autoclosure () -> String) throws {
        if !condition { try tolerate(kind, .invalidParameter(reason())) }
    }
}
