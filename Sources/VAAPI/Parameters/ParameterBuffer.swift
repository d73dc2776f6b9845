internal import CVA

/// A VABufferType that vaenc uses.
package struct BufferType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    static let sequence = BufferType(rawValue: VAEncSequenceParameterBufferType.rawValue)
    static let picture = BufferType(rawValue: VAEncPictureParameterBufferType.rawValue)
    static let slice = BufferType(rawValue: VAEncSliceParameterBufferType.rawValue)
    static let packedHeaderParameters = BufferType(rawValue: VAEncPackedHeaderParameterBufferType.rawValue)
    static let packedHeaderData = BufferType(rawValue: VAEncPackedHeaderDataBufferType.rawValue)
    static let misc = BufferType(rawValue: VAEncMiscParameterBufferType.rawValue)
    static let processing = BufferType(rawValue: VAProcPipelineParameterBufferType.rawValue)

    package var description: String {
        switch self {
        case .sequence: "sequence parameter"
        case .picture: "picture parameter"
        case .slice: "slice parameter"
        case .packedHeaderParameters: "packed header parameter"
        case .packedHeaderData: "packed header data"
        case .misc: "misc parameter"
        case .processing: "video processing parameter"
        default: "type \(rawValue)"
        }
    }
}

/// The parameters of a picture, as Swift values that are converted to VA buffers. Each buffer type has its own file.
///
/// All conforming types are in this module: only they lay out bytes for the driver.
package protocol ParameterBuffer {
    /// Calls `body` once per VA buffer, in the order that drivers expect. The bytes are valid only during the call.
    func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void)

    /// The memory that a buffer points to and that must live until the picture is done, or nil if the buffer has no
    /// pointers.
    var retained: AnyObject? { get }
}

extension ParameterBuffer {
    package var retained: AnyObject? { nil }

    /// Passes the bytes of a C struct, including its padding, to `body`. `T` is a struct of `va.h`.
    func withBytes<T>(_ value: T, as type: BufferType, to body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withUnsafeBytes(of: value) { unsafe body(type, $0) }
    }
}
