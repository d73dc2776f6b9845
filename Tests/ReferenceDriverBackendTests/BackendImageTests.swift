import CVA
import Testing

@Suite struct BackendImageTests {
    let client = Client()

    /// Reads one sample of plane 0…2 (Y, Cb, Cr) in any of the formats.
    private func sample(_ base: UnsafeMutablePointer<UInt8>, _ image: VAImage, _ plane: Int, _ x: Int, _ y: Int)
        -> UInt8
    {
        base[offset(image, plane, x, y)]
    }

    private func offset(_ image: VAImage, _ plane: Int, _ x: Int, _ y: Int) -> Int {
        let fourcc = Int32(bitPattern: image.format.fourcc)
        if plane == 0 { return Int(image.offsets.0) + y * Int(image.pitches.0) + x }
        if fourcc == VA_FOURCC_NV12 { return Int(image.offsets.1) + y * Int(image.pitches.1) + 2 * x + plane - 1 }
        let isFirst = (plane == 1) == (fourcc == VA_FOURCC_I420)
        return Int(isFirst ? image.offsets.1 : image.offsets.2) + y * Int(isFirst ? image.pitches.1 : image.pitches.2)
            + x
    }

    private func fill(_ image: VAImage, seed: Int) {
        let base = client.map(image.buf).1!.assumingMemoryBound(to: UInt8.self)
        for plane in 0..<3 {
            for y in 0..<(plane == 0 ? Int(image.height) : Int(image.height) / 2) {
                for x in 0..<(plane == 0 ? Int(image.width) : Int(image.width) / 2) {
                    base[offset(image, plane, x, y)] = pattern(plane, x, y, seed)
                }
            }
        }
        _ = client.unmap(image.buf)
    }

    private func pattern(_ plane: Int, _ x: Int, _ y: Int, _ seed: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: x &* 31 &+ y &* 17 &+ plane &* 101 &+ seed &* 57 &+ (x &* y))
    }

    /// GStreamer 1.22 uses the offsets of an image of vaDeriveImage for one of vaCreateImage.
    @Test(arguments: [
        (VA_FOURCC_NV12, VA_RT_FORMAT_YUV420), (VA_FOURCC_I420, VA_RT_FORMAT_YUV420), (VA_FOURCC_YV12, VA_RT_FORMAT_YUV420),
        (VA_FOURCC_P010, VA_RT_FORMAT_YUV420_10), (VA_FOURCC_YUY2, VA_RT_FORMAT_YUV422), (VA_FOURCC_BGRA, VA_RT_FORMAT_RGB32),
    ])
    func createdAndDerivedImagesHaveTheSameLayout(fourcc: Int32, format: Int32) {
        for (width, height) in [(64, 64), (1920, 1080), (1366, 768), (35, 51), (2, 2)] {
            let attribute = VASurfaceAttrib(VASurfaceAttribPixelFormat, fourcc)
            let surface = client.createSurfaces(width, height, 1, format: format, [attribute]).1[0]
            let (derived, created) = (client.derive(surface).1, client.createImage(fourcc, width, height).1)
            #expect(derived.pitches == created.pitches && derived.offsets == created.offsets, "\(width)x\(height)")
            #expect(derived.data_size == created.data_size && derived.num_planes == created.num_planes)
        }
    }

    @Test(
        arguments: [VA_FOURCC_NV12, VA_FOURCC_I420, VA_FOURCC_YV12], [VA_FOURCC_NV12, VA_FOURCC_I420, VA_FOURCC_YV12])
    func putAndGetImageConvertFormats(from: Int32, to: Int32) throws {
        let (width, height) = (78, 38)
        let surface = client.createSurfaces(width, height).1[0]
        let whole = client.createImage(VA_FOURCC_NV12, width, height).1
        fill(whole, seed: 0)
        let source = client.createImage(from, width, height).1
        fill(source, seed: 1)
        let target = client.createImage(to, width, height).1
        let rectangles = [(0, 0, 78, 38), (2, 4, 50, 20), (0, 2, 34, 2), (76, 36, 2, 2)]
        for (x, y, columns, rows) in rectangles {
            func put(_ image: VAImage, _ x: Int, _ y: Int, _ w: Int, _ h: Int) -> VAStatus {
                client.table.vaPutImage(
                    client.context, surface, image.image_id, Int32(x), Int32(y), UInt32(w), UInt32(h), Int32(x),
                    Int32(y),
                    UInt32(w), UInt32(h))
            }
            #expect(put(whole, 0, 0, width, height) == VA_STATUS_SUCCESS)
            #expect(put(source, x, y, columns, rows) == VA_STATUS_SUCCESS)
            #expect(
                client.table.vaGetImage(
                    client.context, surface, 0, 0, UInt32(width), UInt32(height), target.image_id) == VA_STATUS_SUCCESS)
            let base = try #require(client.map(target.buf).1?.assumingMemoryBound(to: UInt8.self))
            var wrong = 0
            for plane in 0..<3 {
                let scale = plane == 0 ? 1 : 2
                for row in 0..<height / scale {
                    for column in 0..<width / scale {
                        let isInside =
                            (x / scale..<(x + columns) / scale).contains(column)
                            && (y / scale..<(y + rows) / scale).contains(row)
                        let expected = pattern(plane, column, row, isInside ? 1 : 0)
                        wrong += sample(base, target, plane, column, row) == expected ? 0 : 1
                    }
                }
            }
            #expect(wrong == 0)
            #expect(client.unmap(target.buf) == VA_STATUS_SUCCESS)
        }
    }

    @Test func derivedImageSharesTheSurfacesMemory() throws {
        let surface = client.createSurfaces(70, 36).1[0]
        let (status, image) = client.derive(surface)
        #expect(status == VA_STATUS_SUCCESS && image.format.fourcc == UInt32(VA_FOURCC_NV12))
        #expect(image.width == 70 && image.height == 36 && image.pitches.0 % 64 == 0 && image.num_planes == 2)
        fill(image, seed: 3)
        let other = client.createImage(VA_FOURCC_I420, 70, 36).1
        func get() -> VAStatus {
            client.table.vaGetImage(client.context, surface, 0, 0, 70, 36, other.image_id)
        }
        #expect(get() == VA_STATUS_ERROR_SURFACE_BUSY, "as va.h says of derived images")
        #expect(client.destroy(image.buf) == VA_STATUS_ERROR_INVALID_BUFFER, "it belongs to the image")
        #expect(client.table.vaDestroyImage(client.context, image.image_id) == VA_STATUS_SUCCESS)
        #expect(client.table.vaDestroyImage(client.context, image.image_id) == VA_STATUS_ERROR_INVALID_IMAGE)
        #expect(client.map(image.buf).0 == VA_STATUS_ERROR_INVALID_BUFFER)
        #expect(get() == VA_STATUS_SUCCESS)
        let base = try #require(client.map(other.buf).1?.assumingMemoryBound(to: UInt8.self))
        #expect(sample(base, other, 2, 34, 17) == pattern(2, 34, 17, 3))
        // The image outlives its surface.
        let again = client.derive(surface).1
        #expect(client.destroySurfaces([surface]) == VA_STATUS_SUCCESS)
        let mapped = try #require(client.map(again.buf).1?.assumingMemoryBound(to: UInt8.self))
        #expect(sample(mapped, again, 0, 69, 35) == pattern(0, 69, 35, 3))
        #expect(client.table.vaDestroyImage(client.context, again.image_id) == VA_STATUS_SUCCESS)
        #expect(client.derive(surface).0 == VA_STATUS_ERROR_INVALID_SURFACE)
    }

    @Test func wrongImageCallsAreRefused() {
        let surface = client.createSurfaces(64, 48).1[0]
        let image = client.createImage(VA_FOURCC_NV12, 64, 48).1
        #expect(client.createImage(VA_FOURCC_AYUV, 64, 48).0 == VA_STATUS_ERROR_INVALID_IMAGE_FORMAT)
        #expect(client.createImage(VA_FOURCC_NV12, 0, 48).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        #expect(client.createImage(VA_FOURCC_NV12, 64, 1 << 20).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        func get(_ x: Int32, _ y: Int32, _ w: UInt32, _ h: UInt32) -> VAStatus {
            client.table.vaGetImage(client.context, surface, x, y, w, h, image.image_id)
        }
        #expect(get(0, 0, 64, 48) == VA_STATUS_SUCCESS)
        for (x, y, w, h): (Int32, Int32, UInt32, UInt32) in [
            (-2, 0, 8, 8), (0, -2, 8, 8), (0, 0, 66, 8), (0, 0, 8, 50), (60, 0, 8, 8), (0, 44, 8, 8), (1, 0, 8, 8),
            (0, 0, 0, 8), (0, 0, .max, .max), (.max, 0, 8, 8), (2, 2, .max, 2),
        ] {
            #expect(get(x, y, w, h) == VA_STATUS_ERROR_INVALID_PARAMETER)
            #expect(
                client.table.vaPutImage(
                    client.context, surface, image.image_id, 0, 0, w, h, x, y, w, h)
                    == VA_STATUS_ERROR_INVALID_PARAMETER)
            #expect(
                client.table.vaPutImage(
                    client.context, surface, image.image_id, x, y, w, h, 0, 0, w, h)
                    == VA_STATUS_ERROR_INVALID_PARAMETER)
        }
        #expect(
            client.table.vaPutImage(
                client.context, surface, image.image_id, 0, 0, 32, 24, 0, 0, 64, 48) == VA_STATUS_ERROR_UNIMPLEMENTED)
        #expect(
            client.table.vaGetImage(client.context, 9, 0, 0, 8, 8, image.image_id) == VA_STATUS_ERROR_INVALID_SURFACE)
        #expect(client.table.vaGetImage(client.context, surface, 0, 0, 8, 8, 9) == VA_STATUS_ERROR_INVALID_IMAGE)
    }
}
