internal import CVA

extension Driver {
    /// A rectangle from a client, which is not checked yet.
    struct Rectangle {
        var x: Int
        var y: Int
        var width: Int
        var height: Int

        /// Whether the rectangle is inside a picture of this size and begins at even coordinates, as 4:2:0 chroma
        /// requires.
        func fits(width limit: Int, height rows: Int) -> Bool {
            x >= 0 && y >= 0 && width > 0 && height > 0 && x & 1 == 0 && y & 1 == 0
                && width <= limit && height <= rows && x <= limit - width && y <= rows - height
        }
    }

    private static let maximumImageSide = 16384
    func createImage(fourcc: UInt32, width: Int, height: Int) throws -> VAImage {
        guard let format = capabilities.imageFormats.first(where: { $0.fourcc == fourcc }) else {
            throw Refusal(VA_STATUS_ERROR_INVALID_IMAGE_FORMAT, "images of format \(fourcc) are not supported")
        }
        guard width > 0, height > 0, width <= Self.maximumImageSide, height <= Self.maximumImageSide else {
            throw Refusal.resolution("an image of \(width)x\(height) is not supported")
        }
        // The layout equals that of a surface, because clients use the offsets of one image for another image of the
        // same size.
        let layout = PlaneLayout(format: format, width: width, height: height)
        guard let memory = HostMemory(byteCount: layout.byteCount) else {
            throw Refusal.allocation("no memory for an image of \(width)x\(height)")
        }
        return monitor.withLock { insert(layout, .image(memory)).description }
    }

    func deriveImage(_ id: VASurfaceID) throws -> VAImage {
        try monitor.withLock {
            let surface = try surface(id)
            if capabilities.behavior.losesDerivedP010, surface.isWide {
                let layout = surface.layout
                guard let memory = HostMemory(byteCount: layout.byteCount) else {
                    throw Refusal.allocation("no memory for an image of surface \(id)")
                }
                counts.deriveImage += 1
                return insert(layout, .image(memory)).description
            }
            surface.derivedImages += 1
            return insert(surface.layout, .surface(surface)).description
        }
    }

    private func insert(_ layout: PlaneLayout, _ content: Buffer.Content) -> Image {
        let buffer = buffers.insert {
            Buffer(id: $0, type: VAImageBufferType, elementSize: layout.byteCount, count: 1, content: content)
        }
        return images.insert { Image(id: $0, layout: layout, buffer: buffer) }
    }

    func destroyImage(_ id: VAImageID) throws {
        try monitor.withLock {
            release(try image(id).buffer)
            images.remove(id)
        }
    }

    /// Copies a rectangle of the surface to the upper left corner of the image (vaGetImage).
    func getImage(_ surfaceID: VASurfaceID, _ rectangle: Rectangle, into imageID: VAImageID) throws {
        let (source, target) = try monitor.withLock { () throws -> (PixelArea, PixelArea) in
            let surface = try surface(surfaceID)
            let image = try image(imageID)
            guard rectangle.fits(width: surface.width, height: surface.height),
                rectangle.width <= image.layout.width, rectangle.height <= image.layout.height
            else { throw Refusal.invalidParameter("the rectangle of vaGetImage is outside the surface or the image") }
            try checkIsNotDerived(surface)
            try checkFormats(surface, image)
            _ = wait(for: surface)
            counts.getImage += 1
            return (
                PixelArea(
                    memory: try surface.memory(), layout: surface.layout, x: rectangle.x, y: rectangle.y),
                try area(of: image, x: 0, y: 0)
            )
        }
        source.copy(to: target, width: rectangle.width, height: rectangle.height)
    }

    /// Copies a rectangle of the image to the surface (vaPutImage). Scaling is not supported.
    func putImage(
        _ imageID: VAImageID, _ from: Rectangle, into surfaceID: VASurfaceID, _ to: Rectangle
    ) throws {
        let (source, target) = try monitor.withLock { () throws -> (PixelArea, PixelArea) in
            let surface = try surface(surfaceID)
            let image = try image(imageID)
            guard from.width == to.width, from.height == to.height else {
                throw Refusal.unimplemented("vaPutImage does not scale")
            }
            guard from.fits(width: image.layout.width, height: image.layout.height),
                to.fits(width: surface.width, height: surface.height)
            else { throw Refusal.invalidParameter("the rectangle of vaPutImage is outside the image or the surface") }
            try checkIsNotDerived(surface)
            try checkFormats(surface, image)
            _ = wait(for: surface)
            let memory = try surface.memory()
            surface.clientWrote()
            counts.putImage += 1
            return (
                try area(of: image, x: from.x, y: from.y),
                PixelArea(memory: memory, layout: surface.layout, x: to.x, y: to.y)
            )
        }
        source.copy(to: target, width: from.width, height: from.height)
    }

    /// Throws if an image is derived from the surface: va.h does not allow vaPutImage and vaGetImage then.
    private func checkIsNotDerived(_ surface: Surface) throws {
        guard surface.derivedImages == 0 else {
            throw Refusal.busy("an image is derived from surface \(surface.id)")
        }
    }

    /// Throws unless the formats are equal or both are 8-bit 4:2:0, because only these are converted.
    private func checkFormats(_ surface: Surface, _ image: Image) throws {
        let (from, to) = (surface.format, image.layout.format)
        guard from == to || from.isYUV420 && to.isYUV420 else {
            throw Refusal(VA_STATUS_ERROR_INVALID_IMAGE_FORMAT, "the image and the surface have different formats")
        }
    }

    private func area(of image: Image, x: Int, y: Int) throws -> PixelArea {
        switch image.buffer.content {
        case .image(let memory):
            return PixelArea(memory: memory, layout: image.layout, x: x, y: y)
        case .surface(let surface):
            _ = wait(for: surface)
            return PixelArea(memory: try surface.memory(), layout: image.layout, x: x, y: y)
        case .data, .coded:
            throw Refusal(VA_STATUS_ERROR_INVALID_IMAGE, "image \(image.id) has no pixels")
        }
    }
}
