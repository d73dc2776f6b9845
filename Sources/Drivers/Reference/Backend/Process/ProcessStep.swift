/// The processing of one source picture: it is deinterlaced if requested, scaled, and written to its region of the
/// target.
final class ProcessStep: @unchecked Sendable {
    private let source: PixelArea
    private let target: PixelArea
    private let scaler: PictureScaler
    private let field: ProcessOperation.Field?
    /// The intermediate result of scaling, if the scaler would overwrite samples to the right of the target region;
    /// else nil.
    private let scratch: PixelArea?
    /// The deinterlaced source picture; nil without deinterlacing.
    private let deinterlaced: PixelArea?

    /// - Parameter scaler: a scaler whose conversion has the sizes of the two areas.
    /// - Throws: a `Refusal` if there is not enough memory.
    init(_ source: PixelArea, into target: PixelArea, scaler: PictureScaler, field: ProcessOperation.Field?) throws {
        self.source = source
        self.target = target
        self.scaler = scaler
        self.field = field
        let (from, to) = (scaler.conversion.source, scaler.conversion.target)
        scratch =
            target.hasRoom(width: to.width) ? nil : try PixelArea(target.layout.format, width: to.width, height: to.height)
        deinterlaced =
            field == nil ? nil : try PixelArea(source.layout.format, width: from.width, height: from.height)
    }

    func run() {
        let (from, to) = (scaler.conversion.source, scaler.conversion.target)
        var source = source
        if let field, let deinterlaced {
            source.bob(field, into: deinterlaced, width: from.width, height: from.height)
            source = deinterlaced
        }
        let result = scratch ?? target
        scaler.scale(source.scaled, into: result.scaled)
        if let scratch { scratch.copy(to: target, width: to.width, height: to.height) }
    }
}

extension SurfaceFormat {
    /// The corresponding format of the scaler. YV12 is I420 with the chroma planes swapped.
    var scaled: ScaledPicture.Format {
        switch self {
        case .p010: .p010
        case .i420, .yv12: .i420
        case .yuy2: .yuyv
        case .uyvy: .uyvy
        case .bgra: .bgra
        case .bgrx: .bgrx
        case .rgba: .rgba
        case .rgbx: .rgbx
        default: .nv12
        }
    }
}

extension PixelArea {
    /// Allocates a picture with padding after each row and at the end, because scalers read and write past the ends of
    /// rows.
    init(_ format: SurfaceFormat, width: Int, height: Int) throws {
        var layout = PlaneLayout(format: format, width: width + 64, height: height)
        (layout.width, layout.height) = (width, height)
        guard let memory = HostMemory(byteCount: layout.byteCount + 64) else {
            throw Refusal.allocation("no memory for a picture of \(width)x\(height)")
        }
        self.init(memory: memory, layout: layout, x: 0, y: 0)
    }

    /// Whether a scaler may write up to 63 bytes after the end of each row without overwriting other samples or leaving
    /// the row.
    func hasRoom(width: Int) -> Bool {
        layout.format.planes.indices.allSatisfy { index in
            let plane = layout.format.planes[index]
            let start = x >> plane.across * plane.bytes
            let end = (plane.rowBytes(width: width) + 63) & ~63
            let isWhole = plane.rowBytes(width: width) == end
            return start + end <= layout.pitches[index] && (isWhole || x + width == layout.width)
        }
    }

    var scaled: ScaledPicture {
        var planes = unsafe layout.format.planes.indices.map { unsafe start(plane: $0, row: 0).base }
        var pitches = layout.pitches
        if layout.format == .yv12 {
            unsafe planes.swapAt(1, 2)
            pitches.swapAt(1, 2)
        }
        return unsafe ScaledPicture(planes: planes, pitches: pitches)
    }

    /// Fills a rectangle. Its left and upper edges must be on the chroma grid.
    func fill(x left: Int, y top: Int, width: Int, height: Int, with color: BackgroundColor) {
        guard width > 0, height > 0 else { return }
        var part = self
        (part.x, part.y) = (x + left, y + top)
        for (index, plane) in layout.format.planes.enumerated() {
            let element = color.elements[index]
            let count = plane.rowBytes(width: width)
            let first = part.start(plane: index, row: 0)
            for offset in 0..<count { first[offset] = element[offset % element.count] }
            for row in 1..<max(plane.rows(height: height), 1) {
                part.start(plane: index, row: row).copy(from: first, count: count)
            }
        }
    }
}
