import VideoBase

/// Turns a stream of NAL units from one framing into another, in pieces of any size.
///
/// NAL units pass through as they are, parameter sets included. Start codes come out with four bytes, which is right
/// for every NAL unit (H.264 B.1.2); those that came in with three, and zero bytes between the units, are not kept. What
/// it holds is one NAL unit and the piece that was given last. After an error it is of no more use.
public struct StreamConverter: Sendable {
    /// How NAL units are told from one another.
    public enum Framing: Sendable, Hashable {
        case annexB
        case lengthPrefixed(LengthSize)
    }

    /// Called with each NAL unit before it is appended, with the offset of its first byte in the input, and with the
    /// result so far, to which it may add.
    public typealias UnitHandler = (_ unit: ArraySlice<UInt8>, _ offset: Int, _ result: inout [UInt8]) throws -> Void

    private let output: Framing
    // One of the two.
    private var byStartCode: AnnexBSplitter?
    private var byLength: LengthPrefixedSplitter?

    /// - Parameter longestUnit: bytes of a NAL unit beyond which the stream is refused.
    public init(from input: Framing, to output: Framing, longestUnit: Int = AnnexB.longestUnit) {
        self.output = output
        switch input {
        case .annexB: byStartCode = AnnexBSplitter(longestUnit: longestUnit)
        case .lengthPrefixed(let size): byLength = LengthPrefixedSplitter(lengthSize: size, longestUnit: longestUnit)
        }
    }

    /// Takes the next bytes, and appends what is ready of them to `result`.
    /// - Throws: `MalformedStream`, with the good NAL units before it appended; `VaencError` where there is no memory; what
    ///   `onUnit` throws.
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

    /// Appends the last NAL unit. Then another stream may begin.
    /// - Throws: as `append`; `MalformedStream` where the stream ends inside a NAL unit or has no start code.
    public mutating func finish(to result: inout [UInt8], onUnit: UnitHandler = { _, _, _ in }) throws {
        let output = output
        try byStartCode?.finish { unit, offset in
            try onUnit(unit, offset, &result)
            try Self.add(unit, at: offset, as: output, to: &result)
        }
        try byLength?.finish()
    }

    /// A whole stream at once.
    /// - Throws: `MalformedStream`.
    public static func convert(_ stream: [UInt8], from input: Framing, to output: Framing) throws -> [UInt8] {
        var converter = StreamConverter(from: input, to: output, longestUnit: .max)
        var result: [UInt8] = []
        result.reserveCapacity(stream.count)
        try converter.append(stream, to: &result)
        try converter.finish(to: &result)
        return result
    }

    /// The same as `write`, of any length.
    private static func add(_ unit: ArraySlice<UInt8>, at offset: Int, as framing: Framing, to result: inout [UInt8]) throws {
        try result.makeRoom(for: unit.count + 4, "for a NAL unit")
        try write(unit, at: offset, as: framing, to: &result)
    }

    /// Appends one NAL unit in a framing; `offset` is for errors.
    /// - Throws: `MalformedStream` where the framing cannot hold it.
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
