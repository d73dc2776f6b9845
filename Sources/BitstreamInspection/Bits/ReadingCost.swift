/// Estimates the memory that reading a byte stream takes.
package enum ReadingCost {
    /// The number of bytes for a slice or SEI message and its picture, including those of the report: 2.3 KB for HEVC,
    /// less for H.264, rounded up.
    private static let header = 2560
    /// The number of bytes for any NAL unit.
    private static let unit = 48

    /// Returns the approximate maximum number of bytes that the lists of an H.264 stream's NAL units and pictures take,
    /// without the stream's own bytes.
    package static func bytes(h264 stream: [UInt8]) -> Int {
        bytes(stream) { header in
            let nal_unit_type = header & 31
            return (1...6).contains(nal_unit_type) || (19...20).contains(nal_unit_type)
        }
    }

    /// Returns the approximate maximum number of bytes that the lists of an HEVC stream's NAL units and pictures take,
    /// without the stream's own bytes.
    package static func bytes(hevc stream: [UInt8]) -> Int {
        bytes(stream) { header in
            let nal_unit_type = header >> 1 & 63
            return nal_unit_type < 32 || (39...40).contains(nal_unit_type)
        }
    }

    /// Returns the estimate for a stream.
    ///
    /// - Parameter hasHeader: Returns whether a NAL unit with this first byte is a slice or contains SEI messages.
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
