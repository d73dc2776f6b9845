/// A NAL unit that was found in a byte stream.
protocol ByteStreamUnit {
    /// The name of the unit's type in the standard's table.
    var name: String { get }
    /// The byte offset of its start code in the byte stream.
    var offset: Int { get }
    /// The bytes of the NAL unit, without start code and trailing zeros.
    var payload: Range<Int> { get }

    /// Reads the header of a NAL unit. Returns nil if the unit has no valid header.
    init?(_ unit: AnnexB.Unit, in bytes: [UInt8])
}

extension H264NALUnit: ByteStreamUnit {}
extension HEVCNALUnit: ByteStreamUnit {}

/// A reader that processes the NAL units of a byte stream in order.
protocol ByteStreamReader {
    associatedtype Unit: ByteStreamUnit

    /// The byte stream.
    var bytes: [UInt8] { get }

    /// Stores a violation.
    mutating func report(_ rule: Violation.Rule, _ message: String)
    /// Reserves memory for this number of NAL units. It is called once, before the first `take`.
    mutating func expect(_ count: Int)
    /// Processes the next NAL unit.
    mutating func take(_ nal: Unit) throws(Malformed)
}

extension ByteStreamReader {
    /// Processes every NAL unit in order. Reports errors of the byte stream and units that cannot be read.
    mutating func takeUnits() {
        let annexB = AnnexB(bytes)
        if annexB.leading > 0, bytes.prefix(annexB.leading).contains(where: { $0 != 0 }) || annexB.isEmpty {
            report(.byteStream, "\(annexB.leading) bytes are before the first start code")
        }
        expect(annexB.count)
        annexB.walk { found in
            guard let nal = Unit(found, in: bytes) else {
                return report(.byteStream, "the NAL unit at byte \(found.whole.lowerBound) has an invalid header")
            }
            if let fault = AnnexB.fault(bytes[nal.payload]) {
                report(.byteStream, "\(fault) (\(nal.name) at byte \(nal.offset))")
            }
            do throws(Malformed) {
                try take(nal)
            } catch {
                report(.syntax, "\(nal.name) at byte \(nal.offset): \(error.message)")
            }
        }
    }
}
