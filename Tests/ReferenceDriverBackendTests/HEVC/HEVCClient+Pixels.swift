import CVA
import TestOracles

extension HEVCClient {
    /// Fills the source with the frame of this order if there are frames, otherwise with a moving pattern.
    func paint(_ order: Int) {
        let (_, image) = client.derive(source)
        guard let base = client.map(image.buf).1 else { return }
        defer {
            _ = client.unmap(image.buf)
            _ = client.table.vaDestroyImage(client.context, image.image_id)
        }
        let shift = isWide ? 6 : 0
        func put(_ plane: Int, _ x: Int, _ y: Int, _ value: Int) {
            let (offset, pitch) =
                plane == 0 ? (image.offsets.0, image.pitches.0) : (image.offsets.1, image.pitches.1)
            let row = base + Int(offset) + y * Int(pitch)
            if isWide {
                row.storeBytes(of: UInt16(truncatingIfNeeded: value) << shift, toByteOffset: 2 * x, as: UInt16.self)
            } else {
                row.storeBytes(of: UInt8(truncatingIfNeeded: value), toByteOffset: x, as: UInt8.self)
            }
        }
        let frame = frames.isEmpty ? nil : frames[order % frames.count]
        for y in 0..<height {
            for x in 0..<width {
                let value = 4 * (x + painted * 3) + 3 * y + (x * y & 31)
                put(0, x, y, frame?.sample(0, x, y) ?? (isWide ? value & 1023 : value >> 2))
            }
        }
        for y in 0..<height / 2 {
            for x in 0..<width {
                let value = 400 + 2 * x + painted + y
                put(1, x, y, frame?.sample(1 + x % 2, x / 2, y) ?? (isWide ? value & 1023 : value >> 2))
            }
        }
    }

    /// Returns the surface's samples of the picture of this order, or nil if a call fails.
    func shown(_ order: Int) -> PlanarFrame? {
        let (status, image) = client.createImage(isWide ? VA_FOURCC_P010 : VA_FOURCC_NV12, width, height)
        guard status == VA_STATUS_SUCCESS else { return nil }
        defer { _ = client.table.vaDestroyImage(client.context, image.image_id) }
        guard
            client.table.vaGetImage(
                client.context, surface(order), 0, 0, UInt32(width), UInt32(height), image.image_id)
                == VA_STATUS_SUCCESS,
            let base = client.map(image.buf).1
        else { return nil }
        defer { _ = client.unmap(image.buf) }
        let pitches = [image.pitches.0, image.pitches.1]
        let offsets = [image.offsets.0, image.offsets.1]
        var planes: [[UInt8]] = [[], [], []]
        for y in 0..<height * 3 / 2 {
            let plane = y < height ? 0 : 1
            let row = base + Int(offsets[plane]) + (plane == 0 ? y : y - height) * Int(pitches[plane])
            for x in 0..<width {
                let target = plane == 0 ? 0 : 1 + x % 2
                if isWide {
                    let value = row.load(fromByteOffset: 2 * x, as: UInt16.self) >> 6
                    planes[target] += [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)]
                } else {
                    planes[target].append(row.load(fromByteOffset: x, as: UInt8.self))
                }
            }
        }
        return PlanarFrame(width: width, height: height, bitDepth: isWide ? 10 : 8, bytes: planes.flatMap { $0 })
    }
}

extension PlanarFrame {
    fileprivate func sample(_ plane: Int, _ x: Int, _ y: Int) -> Int {
        let area = width * height
        let index = plane == 0 ? y * width + x : area + (plane - 1) * area / 4 + y * (width / 2) + x
        return bitDepth > 8 ? Int(bytes[2 * index]) | Int(bytes[2 * index + 1]) << 8 : Int(bytes[index])
    }
}
