internal import CVA

/// A header that the client wrote: VAEncPackedHeaderParameterBuffer and its data buffer.
package struct PackedHeader: ParameterBuffer, Sendable, Hashable {
    /// The type of header: VAEncPackedHeaderType.
    package enum Kind: UInt32, Sendable, Hashable {
        case sequence = 1, picture = 2, slice = 3, rawData = 4
    }

    package var kind: Kind
    /// The header's bytes, with a start code.
    package var bytes: [UInt8]
    /// The number of valid bits in `bytes`. A slice header may end inside a byte.
    package var bit_length: Int
    /// Whether `bytes` already contains emulation prevention bytes. If not, the driver inserts them.
    package var has_emulation_bytes: Bool

    /// Creates a packed header.
    ///
    /// - Parameter bit_length: The number of valid bits, or nil for all of `bytes`.
    package init(_ kind: Kind, _ bytes: [UInt8], bit_length: Int? = nil, has_emulation_bytes: Bool) {
        self.kind = kind
        self.bytes = bytes
        self.bit_length = bit_length ?? bytes.count * 8
        self.has_emulation_bytes = has_emulation_bytes
    }

    package func withBuffers(_ body: (BufferType, UnsafeRawBufferPointer) -> Void) {
        var c = VAEncPackedHeaderParameterBuffer()
        c.type = kind.rawValue
        c.bit_length = UInt32(clamping: min(bit_length, bytes.count * 8))
        c.has_emulation_bytes = has_emulation_bytes ? 1 : 0
        unsafe withBytes(c, as: .packedHeaderParameters, to: body)
        unsafe bytes.withUnsafeBytes { unsafe body(.packedHeaderData, $0) }
    }
}
