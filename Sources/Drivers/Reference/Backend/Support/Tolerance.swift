/// What the driver accepts because clients depend on it: real drivers take it, though va.h or the codec does not allow it, or
/// drivers read it differently. docs/REFERENCE-DRIVER.md lists the cases.
enum Tolerance: Sendable {
    /// A packed header of a type that the config does not name.
    case unnamedHeader
    /// A sequence that is smaller than its context.
    case contextSize
    /// A general_profile_idc that is not the config's.
    case profile
    /// Samples of 8 bits in a config of 10.
    case bitDepth
    /// A nal_unit_type that is not that of the packed slice header or of an IDR picture.
    case unitType
    /// A level that the codec does not have.
    case level
    /// A descriptor of external memory that is null.
    case nullDescriptor
    /// A pixel format that is not of the surface's RT format, or of the context's bit depth.
    case surfaceFormat
    /// A buffer that the codec has no use for, or without data.
    case uselessBuffer
    /// Flags of rate control without a mode.
    case rateControlFlags
    /// A target percentage of 0, or above 100.
    case targetPercentage
    /// A frame rate of 0.
    case frameRate
    /// Timing information without a tick or a time scale.
    case timing
    /// Fewer reference frames in the sequence than its pictures have.
    case referenceCount
    /// A stream that begins with a picture that cannot be decoded first.
    case firstPicture
    /// A slice header whose numbers are not those of the picture parameters.
    case pictureNumbers
}

extension Environment {
    /// Throws `refusal` with VAENC_REFERENCE_STRICT=1. Otherwise writes a warning to stderr, once in a process for each kind.
    func tolerate(_ kind: Tolerance, _ refusal: @autoclosure () -> Refusal) throws {
        let refusal = refusal()
        guard !isStrict else { throw refusal }
        DriverProcess.shared.warn(kind, refusal.reason)
    }

    /// The same, if `condition` does not hold, with INVALID_PARAMETER.
    func prefer(_ condition: Bool, _ kind: Tolerance, _ reason: @autoclosure () -> String) throws {
        if !condition { try tolerate(kind, .invalidParameter(reason())) }
    }
}
