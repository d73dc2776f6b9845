import CVA
import TestOracles

extension StreamClient {
    /// Returns the samples of the surface of picture `index`, or nil if a call fails.
    func shown(_ index: Int) -> PlanarFrame? {
        let (status, image) = client.createImage(VA_FOURCC_I420, width, height)
        guard status == VA_STATUS_SUCCESS else { return nil }
        defer { _ = client.table.vaDestroyImage(client.context, image.image_id) }
        guard
            client.table.vaGetImage(
                client.context, reconstructions[index % reconstructions.count], 0, 0, UInt32(width), UInt32(height),
                image.image_id) == VA_STATUS_SUCCESS,
            let base = client.map(image.buf).1?.assumingMemoryBound(to: UInt8.self)
        else { return nil }
        defer { _ = client.unmap(image.buf) }
        let planes = [
            (image.offsets.0, image.pitches.0, width, height),
            (image.offsets.1, image.pitches.1, width / 2, height / 2),
            (image.offsets.2, image.pitches.2, width / 2, height / 2),
        ]
        var bytes: [UInt8] = []
        for (offset, pitch, columns, rows) in planes {
            for y in 0..<rows {
                bytes += UnsafeBufferPointer(start: base + Int(offset) + y * Int(pitch), count: columns)
            }
        }
        return PlanarFrame(width: width, height: height, bytes: bytes)
    }
}

/// Returns the NAL units of a stream, including start codes.
func nalUnits(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var starts: [Int] = []
    var index = 0
    while index + 2 < bytes.count {
        if bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
            starts.append(index > 0 && bytes[index - 1] == 0 ? index - 1 : index)
            index += 3
        } else {
            index += 1
        }
    }
    return starts.indices.map { bytes[starts[$0]..<($0 + 1 < starts.count ? starts[$0 + 1] : bytes.count)] }
}
