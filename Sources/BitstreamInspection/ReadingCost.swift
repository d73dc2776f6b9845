/// Estimates the memory that reading a byte stream takes.
package enum ReadingCost {
    /// Bytes for a slice or message and its picture, from the reader to the report: 2.3 KB for HEVC, less for H.264.
    private static let header = 2560
    /// Bytes for any NAL unit.
    private static let unit = 48

    /// Returns the approximate number of bytes that the lists of a stream's NAL units and pictures take. The actual
    /// number is not much larger. The stream's own bytes are not included.
    package static func bytes(annexB stream: [UInt8], isHEVC: Bool) -> Int {
        var (units, headers) = (0, 0)
        AnnexB(stream).walk { found in
            units += 1
            guard let first = stream[found.payload].first else { return }
            let type = isHEVC ? first >> 1 & 63 : first & 31
            let hasHeader = isHEVC ? type < 32 || (39...40).contains(type) : (1...6).contains(type) || (19...20).contains(type)
            if hasHeader { headers += 1 }
        }
        return units * unit + min(headers, HeaderBudget.whole(byteCount: stream.count)) * header
    }
}
