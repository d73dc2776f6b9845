internal import CVA
internal import Glibc
internal import VideoBase

/// A VAImage of a surface: either the surface's own memory or a copy.
@safe struct Image: ~Copyable {
    private let surface: Surface
    private let image: VAImage
    private let isDerived: Bool
    private var address: UnsafeMutableRawPointer?
    /// Whether the memory of a copy could not be mapped or unmapped. The copy is then not reused.
    private var isBroken = false

    private init(_ image: VAImage, of surface: Surface, isDerived: Bool) {
        self.image = image
        self.surface = surface
        self.isDerived = isDerived
    }

    /// The maximum number of attempts of a mapping, with pauses of 1, 2, 4 and 8 ms.
    static let tries = 5

    /// Returns the mapped samples of a surface. The mapping is retried if the device fails.
    static func mapped(_ surface: Surface, _ access: Surface.Access) throws(VAError) -> Image {
        var attempt = 0
        while true {
            do throws(VAError) {
                var image = try of(surface, access)
                try image.map(access)
                return image
            } catch {
                attempt += 1
                guard attempt < tries else { throw error.endingSession() }
            }
            usleep(500 << UInt32(attempt))
        }
    }

    /// Returns the surface's own memory if the driver can map it in the surface's format. Otherwise, returns a copy,
    /// which is filled if `access` includes reading.
    static func of(_ surface: Surface, _ access: Surface.Access) throws(VAError) -> Image {
        let display = surface.display
        // A derived image is also used for reading, although the memory of some GPUs is slow to read:
        // DriverQuirk.misplacesImageChroma.
        if let derived = try derive(surface) { return derived }
        let copy = try display.images.take(display, surface)
        let image = Image(copy, of: surface, isDerived: false)
        if access.reads {
            try display.check(
                unsafe vaGetImage(
                    display.handle, surface.id, 0, 0, CUnsignedInt(surface.size.width),
                    CUnsignedInt(surface.size.height), copy.image_id),
                call: "vaGetImage", object: "\(surface.format.rawValue) surface of \(surface.size)")
        }
        return image
    }

    /// Maps the surface's own memory. Returns nil if the driver does not map surfaces, or maps them in another pixel
    /// format. This is detected once and remembered.
    private static func derive(_ surface: Surface) throws(VAError) -> Image? {
        let display = surface.display
        guard display.optionalCalls.has(.deriveImage) else { return nil }
        var image = VAImage()
        let status = unsafe vaDeriveImage(display.handle, surface.id, &image)
        if status == 0 {
            let derived = Image(image, of: surface, isDerived: true)
            if image.format.fourcc == FourCC(surface.format)?.rawValue { return derived }
        } else if VAStatusCode(rawValue: status) == .invalidSurface {
            try display.check(status, call: "vaDeriveImage", object: "surface \(surface.id)")
        }
        _ = display.messages.take()
        display.optionalCalls.lacks(.deriveImage)
        return nil
    }

    deinit {
        if unsafe address != nil { BufferCalls.unmap(surface.display, image.buf) }
        if isDerived || isBroken {
            unsafe ImagePool.destroy(image, surface.display.handle)
        } else {
            surface.display.images.recycle(image)
        }
    }

    private mutating func map(_ access: Surface.Access) throws(VAError) {
        var mapping: BufferCalls.Access = []
        if access.reads { mapping.insert(.read) }
        if access.writes { mapping.insert(.write) }
        isBroken = true
        var start: UnsafeMutableRawPointer?
        try surface.display.check(
            unsafe BufferCalls.map(surface.display, id: image.buf, address: &start, for: mapping), call: "vaMapBuffer",
            object: what)
        unsafe address = start
        guard unsafe address != nil, image.num_planes >= surface.format.planeCount, fits(allocated) else {
            throw VAError(
                call: "vaMapBuffer", status: .invalidImage, object: what,
                driverMessage: "\(image.num_planes) planes in \(image.data_size) bytes")
        }
        isBroken = false
    }

    private var what: String { "\(surface.format.rawValue) surface of \(surface.size)" }

    /// The size of the mapped planes. For a copy, it is the surface's size, because only that part is written back.
    private var allocated: VideoSize {
        isDerived ? VideoSize(width: Int(image.width), height: Int(image.height)) : surface.size
    }

    /// Calls `body` with the mapped planes.
    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) throws -> R {
        guard let base = unsafe address else {
            throw VAError(call: "vaMapBuffer", status: .invalidImage, object: what)
        }
        return unsafe try planes(base, count: surface.format.planeCount, visible: visible, body)
    }

    mutating func unmap() throws(VAError) {
        guard unsafe address != nil else { return }
        unsafe address = nil
        var status = BufferCalls.unmap(surface.display, image.buf)
        if status != 0 { status = BufferCalls.unmap(surface.display, image.buf) }
        if status != 0 {
            isBroken = true
            throw VAError(call: "vaUnmapBuffer", status: VAStatusCode(rawValue: status), object: what).endingSession()
        }
    }

    @unsafe private func planes<R>(
        _ base: UnsafeMutableRawPointer, count: Int, visible: VideoSize, _ body: (PixelPlanes) throws -> R
    ) throws -> R {
        let offsets = image.offsets
        let pitches = image.pitches
        // SAFETY: The planes lie within the mapped bytes (checked by `fits`), which are valid until the unmap above.
        return unsafe try body(
            PixelPlanes(
                format: surface.format, size: visible, allocatedSize: allocated,
                bases: (
                    base + Int(offsets.0), count > 1 ? base + Int(offsets.1) : nil,
                    count > 2 ? base + Int(offsets.2) : nil
                ),
                pitches: (Int(pitches.0), Int(pitches.1), Int(pitches.2))))
    }

    /// Whether planes of this size lie within the image's bytes and the size is at least the surface's.
    private func fits(_ allocated: VideoSize) -> Bool {
        guard allocated.width >= surface.size.width, allocated.height >= surface.size.height else { return false }
        let offsets = [image.offsets.0, image.offsets.1, image.offsets.2]
        let pitches = [image.pitches.0, image.pitches.1, image.pitches.2]
        return (0..<surface.format.planeCount).allSatisfy { plane in
            let row = surface.format.rowBytes(plane: plane, width: allocated.width)
            let rows = surface.format.rows(plane: plane, height: allocated.height)
            return Int(pitches[plane]) >= row
                && Int(offsets[plane]) + Int(pitches[plane]) * (rows - 1) + row <= Int(image.data_size)
        }
    }

    /// Writes the samples of a copy back to the surface (vaPutImage). Does nothing if the image is the surface's own
    /// memory.
    func putBack() throws(VAError) {
        if isDerived { return }
        let width = CUnsignedInt(surface.size.width)
        let height = CUnsignedInt(surface.size.height)
        var attempt = 0
        while true {
            let status = unsafe vaPutImage(
                surface.display.handle, surface.id, image.image_id, 0, 0, width, height, 0, 0, width, height)
            if status == 0 { return }
            attempt += 1
            guard attempt < Self.tries else {
                do throws(VAError) {
                    return try surface.display.check(status, call: "vaPutImage", object: what)
                } catch {
                    throw error.endingSession()
                }
            }
            usleep(500 << UInt32(attempt))
        }
    }
}
