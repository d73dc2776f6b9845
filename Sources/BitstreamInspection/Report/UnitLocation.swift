/// The position of a NAL unit in a compact form, because a byte stream can contain a unit for every three bytes.
struct UnitLocation: Sendable, Hashable {
    let offset: Int
    private let payloadEnd: Int
    private let trailingZeros: Int
    private let startCode: UInt8

    init(_ unit: AnnexB.Unit) {
        offset = unit.whole.lowerBound
        payloadEnd = unit.payload.upperBound
        trailingZeros = unit.whole.upperBound - unit.payload.upperBound
        // 3 or 4, or 0 for a NAL unit without a start code.
        startCode = UInt8(clamping: unit.payload.lowerBound - unit.whole.lowerBound)
    }

    var byteCount: Int { payloadEnd + trailingZeros - offset }
    var payload: Range<Int> { (offset + Int(startCode))..<payloadEnd }
}
