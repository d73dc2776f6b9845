import VideoBase

/// Converts a stream of NAL units to another framing, in pieces of any size.
///
/// NAL units, including parameter sets, are copied unchanged. Start codes are written with four bytes, which is valid
/// for every NAL unit (H.264 B.1.2). Start codes of three bytes and zero bytes between units are not preserved. The
/// converter holds at most one NAL unit and the most recent piece. It must not be used after an error.
public struct StreamConverter: Sendable {
    /// The framing of NAL units in a stream.
    public enum Framing: Sendable, Hashable {
        /// Each NAL unit after a start code (H.264 and H.265, annex B).
        case annexB
        /// Each NAL unit after its length (ISO/IEC 14496-15).
        case lengthPrefixed(LengthSize)
    }

    /// A function that is called with each NAL unit before it is appended, with the offset of its first byte in the
    /// input, and with the result so far, to which the function may append.
    public typealias UnitHandler = (_ unit: ArraySlice<UInt8>, _ offset: Int, _ result: inout [UInt8]) throws -> Void

    private let output: Framing
    // Exactly one of the two splitters is not nil: the one for the input's framing.
    private var byStartCode: AnnexBSplitter?
    private var byLength: LengthPrefixedSplitter?

    /// Creates a converter.
    ///
    /// - Parameter longestUnit: The maximum size of a NAL unit in bytes. A stream with a larger unit is rejected.
    public init(from input: Framing, to output: Framing, longestUnit: Int = AnnexB.longestUnit) {
        self.output = output
        switch input {
        case .annexB: byStartCode = AnnexBSplitter(longestUnit: longestUnit)
        case .lengthPrefixed(let size): byLength = LengthPrefixedSplitter(lengthSize: size, longestUnit: longestUnit)
        }
    }

    /// Adds the next bytes and appends the converted units to `result`.
    ///
    /// - Throws: A `MalformedStream`, after the preceding valid units were appended; a `VaencError` if there is not
    ///   enough memory; or an error of `onUnit`.
    public mutating func append(
        _ bytes: some Collection<UInt8>, to result: inout [UInt8], onUnit: UnitHandler = { _, _, _ in }
    ) throws {
        let output = output
        let write = { (unit: ArraySlice<UInt8>, offset: Int) in
            try onUnit(unit, offset, &result)
            try Self.add(unit, at: offset, as: output, to: &result)
        }
        try byStartCode?.append(bytes, write)
        try byLength?.append(bytes, write)
    }

    /// Appends the last NAL unit. Afterwards, the converter can convert another stream.
    ///
    /// - Throws: The errors of `append`, and a `MalformedStream` if the stream ends inside a NAL unit or has no start
    ///   code.
    public mutating func finish(to result: inout [UInt8], onUnit: UnitHandler = { _, _, _ in }) throws {
        let output = output
        try byStartCode?.finish { unit, offset in
            try onUnit(unit, offset, &result)
            try Self.add(unit, at: offset, as: output, to: &result)
        }
        try byLength?.finish()
    }

    /// Converts a whole stream.
    ///
    /// - Throws: A `MalformedStream`, or a `VaencError` if there is not enough memory.
    public static func convert(_ stream: [UInt8], from input: Framing, to output: Framing) throws -> [UInt8] {
        var converter = StreamConverter(from: input, to: output, longestUnit: .max)
        var result: [UInt8] = []
        result.reserveCapacity(stream.count)
        try converter.append(stream, to: &result)
        try converter.finish(to: &result)
        return result
    }

    /// Works like `write`, but checks that there is memory for the unit.
    private static func add(_ unit: ArraySlice<UInt8>, at offset: Int, as framing: Framing, to result: inout [UInt8]) throws {
        try result.makeRoom(for: unit.count + 4, "for a NAL unit")
        try write(unit, at: offset, as: framing, to: &result)
    }

    /// Appends one NAL unit in a framing.
    ///
    /// - Parameter offset: The offset of the unit in the input, for errors.
    /// - Throws: A `MalformedStream` if the framing cannot represent the unit.
    public static func write(
        _ unit: ArraySlice<UInt8>, at offset: Int = 0, as framing: Framing, to result: inout [UInt8]
    ) throws(MalformedStream) {
        switch framing {
        case .annexB:
            if AnnexB.cannotHold(unit.span) { throw MalformedStream(.startCodeInUnit, at: offset) }
            AnnexB.append(unit, to: &result)
        case .lengthPrefixed(let size):
            guard unit.count <= size.longest else {
                throw MalformedStream(.unitTooLong(unit.count, longest: size.longest), at: offset)
            }
            LengthPrefixed.appendLength(unit.count, size, to: &result)
            result.append(contentsOf: unit)
        }
    }
}
