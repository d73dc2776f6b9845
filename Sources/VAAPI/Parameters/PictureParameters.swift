internal import CVA

/// A VABufferType that vaenc sends.
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

/// What a picture can be given: Swift values that become VA buffers, one file per buffer.
///
/// The types that conform are all in this module: they alone lay out bytes for the driver.
package protocol PictureParameters {
    /// Calls `body` once per VA buffer, in the order in which a driver wants them. The bytes are valid only inside.
    func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void)

    /// Memory that a buffer points to, which must live until the picture is done; nil for most.
    var kept: AnyObject? { get }
}

extension PictureParameters {
    package var kept: AnyObject? { nil }

    /// Lends a C struct's bytes, padding included. `T` is a struct of `va.h`.
    func lend<T>(_ value: T, as type: BufferType, to body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        unsafe withUnsafeBytes(of: value) { unsafe body(type, $0) }
    }
}
