/// A VAStatus: the result of a libva call (`va.h`, VA_STATUS_…).
public struct VAStatusCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The value of the constant in `va.h`.
    public let rawValue: Int32

    /// Creates a status from a value that libva returned. Unknown values are kept.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The constant's name in `va.h`, or nil for an unknown value.
    public var name: String? { Self.table[rawValue]?.name }

    /// A short human-readable description, or the number of an unknown value.
    public var description: String { Self.table[rawValue]?.text ?? "status \(rawValue)" }

    /// VA_STATUS_SUCCESS.
    public static let success = VAStatusCode(rawValue: 0x00)
    /// VA_STATUS_ERROR_OPERATION_FAILED.
    public static let operationFailed = VAStatusCode(rawValue: 0x01)
    /// VA_STATUS_ERROR_ALLOCATION_FAILED.
    public static let allocationFailed = VAStatusCode(rawValue: 0x02)
    /// VA_STATUS_ERROR_INVALID_DISPLAY.
    public static let invalidDisplay = VAStatusCode(rawValue: 0x03)
    /// VA_STATUS_ERROR_INVALID_CONFIG.
    public static let invalidConfig = VAStatusCode(rawValue: 0x04)
    /// VA_STATUS_ERROR_INVALID_CONTEXT.
    public static let invalidContext = VAStatusCode(rawValue: 0x05)
    /// VA_STATUS_ERROR_INVALID_SURFACE.
    public static let invalidSurface = VAStatusCode(rawValue: 0x06)
    /// VA_STATUS_ERROR_INVALID_BUFFER.
    public static let invalidBuffer = VAStatusCode(rawValue: 0x07)
    /// VA_STATUS_ERROR_INVALID_IMAGE.
    public static let invalidImage = VAStatusCode(rawValue: 0x08)
    /// VA_STATUS_ERROR_INVALID_SUBPICTURE.
    public static let invalidSubpicture = VAStatusCode(rawValue: 0x09)
    /// VA_STATUS_ERROR_ATTR_NOT_SUPPORTED.
    public static let attributeNotSupported = VAStatusCode(rawValue: 0x0a)
    /// VA_STATUS_ERROR_MAX_NUM_EXCEEDED.
    public static let maximumExceeded = VAStatusCode(rawValue: 0x0b)
    /// VA_STATUS_ERROR_UNSUPPORTED_PROFILE.
    public static let unsupportedProfile = VAStatusCode(rawValue: 0x0c)
    /// VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT.
    public static let unsupportedEntryPoint = VAStatusCode(rawValue: 0x0d)
    /// VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT.
    public static let unsupportedRTFormat = VAStatusCode(rawValue: 0x0e)
    /// VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE.
    public static let unsupportedBufferType = VAStatusCode(rawValue: 0x0f)
    /// VA_STATUS_ERROR_SURFACE_BUSY.
    public static let surfaceBusy = VAStatusCode(rawValue: 0x10)
    /// VA_STATUS_ERROR_FLAG_NOT_SUPPORTED.
    public static let flagNotSupported = VAStatusCode(rawValue: 0x11)
    /// VA_STATUS_ERROR_INVALID_PARAMETER.
    public static let invalidParameter = VAStatusCode(rawValue: 0x12)
    /// VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED.
    public static let resolutionNotSupported = VAStatusCode(rawValue: 0x13)
    /// VA_STATUS_ERROR_UNIMPLEMENTED.
    public static let unimplemented = VAStatusCode(rawValue: 0x14)
    /// VA_STATUS_ERROR_SURFACE_IN_DISPLAYING.
    public static let surfaceInDisplaying = VAStatusCode(rawValue: 0x15)
    /// VA_STATUS_ERROR_INVALID_IMAGE_FORMAT.
    public static let invalidImageFormat = VAStatusCode(rawValue: 0x16)
    /// VA_STATUS_ERROR_DECODING_ERROR.
    public static let decodingError = VAStatusCode(rawValue: 0x17)
    /// VA_STATUS_ERROR_ENCODING_ERROR.
    public static let encodingError = VAStatusCode(rawValue: 0x18)
    /// VA_STATUS_ERROR_INVALID_VALUE.
    public static let invalidValue = VAStatusCode(rawValue: 0x19)
    /// VA_STATUS_ERROR_UNSUPPORTED_FILTER.
    public static let unsupportedFilter = VAStatusCode(rawValue: 0x20)
    /// VA_STATUS_ERROR_INVALID_FILTER_CHAIN.
    public static let invalidFilterChain = VAStatusCode(rawValue: 0x21)
    /// VA_STATUS_ERROR_HW_BUSY.
    public static let hardwareBusy = VAStatusCode(rawValue: 0x22)
    /// VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE.
    public static let unsupportedMemoryType = VAStatusCode(rawValue: 0x24)
    /// VA_STATUS_ERROR_NOT_ENOUGH_BUFFER.
    public static let notEnoughBuffer = VAStatusCode(rawValue: 0x25)
    /// VA_STATUS_ERROR_TIMEDOUT.
    public static let timedOut = VAStatusCode(rawValue: 0x26)
    /// VA_STATUS_ERROR_UNKNOWN.
    public static let unknown = VAStatusCode(rawValue: -1)

    private static let table: [Int32: (name: String, text: String)] = [
        0x00: ("VA_STATUS_SUCCESS", "success"),
        0x01: ("VA_STATUS_ERROR_OPERATION_FAILED", "operation failed"),
        0x02: ("VA_STATUS_ERROR_ALLOCATION_FAILED", "out of memory"),
        0x03: ("VA_STATUS_ERROR_INVALID_DISPLAY", "invalid display"),
        0x04: ("VA_STATUS_ERROR_INVALID_CONFIG", "invalid configuration"),
        0x05: ("VA_STATUS_ERROR_INVALID_CONTEXT", "invalid context"),
        0x06: ("VA_STATUS_ERROR_INVALID_SURFACE", "invalid surface"),
        0x07: ("VA_STATUS_ERROR_INVALID_BUFFER", "invalid buffer"),
        0x08: ("VA_STATUS_ERROR_INVALID_IMAGE", "invalid image"),
        0x09: ("VA_STATUS_ERROR_INVALID_SUBPICTURE", "invalid subpicture"),
        0x0a: ("VA_STATUS_ERROR_ATTR_NOT_SUPPORTED", "attribute not supported"),
        0x0b: ("VA_STATUS_ERROR_MAX_NUM_EXCEEDED", "too many elements"),
        0x0c: ("VA_STATUS_ERROR_UNSUPPORTED_PROFILE", "profile not supported"),
        0x0d: ("VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT", "entry point not supported"),
        0x0e: ("VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT", "surface format not supported"),
        0x0f: ("VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE", "buffer type not supported"),
        0x10: ("VA_STATUS_ERROR_SURFACE_BUSY", "surface busy"),
        0x11: ("VA_STATUS_ERROR_FLAG_NOT_SUPPORTED", "flag not supported"),
        0x12: ("VA_STATUS_ERROR_INVALID_PARAMETER", "invalid parameter"),
        0x13: ("VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED", "resolution not supported"),
        0x14: ("VA_STATUS_ERROR_UNIMPLEMENTED", "not implemented by the driver"),
        0x15: ("VA_STATUS_ERROR_SURFACE_IN_DISPLAYING", "surface is being displayed"),
        0x16: ("VA_STATUS_ERROR_INVALID_IMAGE_FORMAT", "invalid image format"),
        0x17: ("VA_STATUS_ERROR_DECODING_ERROR", "decoding error"),
        0x18: ("VA_STATUS_ERROR_ENCODING_ERROR", "encoding error"),
        0x19: ("VA_STATUS_ERROR_INVALID_VALUE", "invalid value"),
        0x20: ("VA_STATUS_ERROR_UNSUPPORTED_FILTER", "filter not supported"),
        0x21: ("VA_STATUS_ERROR_INVALID_FILTER_CHAIN", "invalid filter chain"),
        0x22: ("VA_STATUS_ERROR_HW_BUSY", "hardware busy"),
        0x24: ("VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE", "memory type not supported"),
        0x25: ("VA_STATUS_ERROR_NOT_ENOUGH_BUFFER", "buffer too small"),
        0x26: ("VA_STATUS_ERROR_TIMEDOUT", "timed out"),
        -1: ("VA_STATUS_ERROR_UNKNOWN", "unknown error"),
    ]

    /// All values that `va.h` names, in the order of `va.h`.
    public static var named: [VAStatusCode] {
        table.keys.map { UInt32(bitPattern: $0) }.sorted().map { VAStatusCode(rawValue: Int32(bitPattern: $0)) }
    }
}
