/// Estimates the memory that reading a byte stream takes.
package enum ReadingCost {
    /// Bytes for a slice or message and its picture, from the reader to the report: 2.3 KB for HEVC, less for H.264.
    private static let header = 2560
    /// Bytes for any NAL unit.
    private static let unit = 48

    /// The approximate number of bytes of memory that the lists of a stream's NAL units and pictures take at most,
    /// without the stream's own bytes.
    package static func bytes(h264 stream: [UInt8]) -> Int {
        bytes(stream) { header in
            let nal_unit_type = header & 31
            return (1...6).contains(nal_unit_type) || (19...20).contains(nal_unit_type)
        }
    }

    /// The same for a stream of HEVC.
    package static func bytes(hevc stream: [UInt8]) -> Int {
        bytes(stream) { header in
            let nal_unit_type = header >> 1 & 63
            return nal_unit_type < 32 || (39...40).contains(nal_unit_type)
        }
    }

    /// - Parameter hasHeader: Whether a NAL unit with this first byte is a slice or has messages.
    private static func bytes(_ stream: [UInt8], hasHeader: (UInt8) -> Bool) -> Int {
        var (units, headers) = (0, 0)
        AnnexB(stream).walk { found in
            units += 1
            guard let first = stream[found.payload].first else { return }
            if hasHeader(first) { headers += 1 }
        }
        return units * unit + min(headers, HeaderBudget.whole(byteCount: stream.count)) * header
    }
}
