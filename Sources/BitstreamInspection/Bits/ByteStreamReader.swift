/// A NAL unit that can be found in a byte stream.
protocol ByteStreamUnit {
    /// As the standard's table calls its type.
    var name: String { get }
    /// Of its start code in the byte stream.
    var offset: Int { get }
    /// Of the NAL unit alone: without start code and trailing zeros.
    var payload: Range<Int> { get }

    /// Nil where there is no sound header.
    init?(_ unit: AnnexB.Unit, in bytes: [UInt8])
}

extension InspectedNALUnit: ByteStreamUnit {}
extension HEVCNALUnit: ByteStreamUnit {}

/// Walks a byte stream's NAL units.
protocol ByteStreamReader {
    associatedtype Unit: ByteStreamUnit

    var bytes: [UInt8] { get }

    mutating func report(_ rule: Violation.Rule, _ message: String)
    /// So many NAL units will follow.
    mutating func expect(_ count: Int)
    /// Takes the next NAL unit.
    mutating func take(_ nal: Unit) throws(Malformed)
}

extension ByteStreamReader {
    /// Takes every NAL unit in order, and reports what is wrong with the byte stream and what cannot be read.
    mutating func takeUnits() {
        let annexB = AnnexB(bytes)
        if annexB.leading > 0, bytes.prefix(annexB.leading).contains(where: { $0 != 0 }) || annexB.isEmpty {
            report(.byteStream, "\(annexB.leading) bytes stand before the first start code")
        }
        expect(annexB.count)
        annexB.walk { found in
            guard let nal = Unit(found, in: bytes) else {
                return report(.byteStream, "a NAL unit at byte \(found.whole.lowerBound) without a sound header")
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
