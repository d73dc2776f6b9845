/// What it takes to look into a byte stream.
package enum ReadingCost {
    /// Of a slice or a message and the picture that it makes, from the reader to what is reported of it: 2.3 KB of HEVC, less of H.264.
    private static let header = 2560
    /// Of any NAL unit.
    private static let unit = 48

    /// Bytes of memory that the lists of a stream's NAL units and pictures take, about, and not much more. The stream's own bytes do not
    /// count.
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
