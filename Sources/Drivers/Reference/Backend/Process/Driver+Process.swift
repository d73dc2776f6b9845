internal import CVA

extension Driver {
    /// Renders a buffer in a context for video processing. The caller must hold the monitor.
    func render(_ buffer: Buffer, _ picture: inout ProcessPicture) throws {
        guard buffer.type == VAProcPipelineParameterBufferType else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type \(buffer.type.rawValue) is not rendered")
        }
        guard picture.operations.count < Self.maximumPictures else {
            throw Refusal.invalidParameter("more than \(Self.maximumPictures) pictures cannot be combined into one")
        }
        let parameters = unsafe try buffer.element(VAProcPipelineParameterBuffer.self)
        picture.operations.append(unsafe try ProcessOperation(parameters) { try self.buffer($0) })
    }

    private static let maximumPictures = 16

    /// Checks the pictures and queues them. The caller must hold the monitor.
    func end(_ picture: ProcessPicture, _ context: Context) throws {
        let target = picture.target
        guard surfaces[target.id] === target else {
            throw Refusal(VA_STATUS_ERROR_INVALID_SURFACE, "the target was destroyed")
        }
        guard !picture.operations.isEmpty else { throw Refusal.invalidParameter("the picture has no source pictures") }
        let sources = try picture.operations.map { try source(of: $0, target) }
        if environment.isNull { return }
        // A picture that is still being reconstructed must be complete before it is read or overwritten.
        for surface in sources + [target] where surface.isWritten { _ = wait(for: surface) }
        let whole = PixelArea(memory: try target.memory(), layout: target.layout, x: 0, y: 0)
        var inner: Rectangle?
        var color: BackgroundColor?
        let steps = try zip(picture.operations, sources).map { operation, source in
            let meanings = operation.meanings(from: source.layout, to: target.layout)
            let region = try (operation.targetRegion ?? target.whole).alignedToChroma(in: target.layout)
            inner = inner ?? region
            color = color ?? BackgroundColor(argb: operation.background, target.format, meanings.target)
            return try step(
                operation, meanings: meanings, source: source, target: whole, region: region, context: context)
        }
        guard let inner, let color else { return }
        let task = ProcessTask(whole, inner: inner, color: color, steps: steps, counts: counts)
        try context.submit(Job(contextID: context.id, task: task, surfaces: sources + [target]))
        target.clientWrote()
    }

    private func source(of operation: ProcessOperation, _ target: Surface) throws -> Surface {
        let source = try surface(operation.source)
        guard source !== target else { throw Refusal.invalidParameter("a surface is processed into itself") }
        guard source.mappings == 0 else { throw Refusal.busy("surface \(source.id) is mapped") }
        return source
    }

    private func step(
        _ operation: ProcessOperation, meanings: (source: SampleMeaning, target: SampleMeaning), source: Surface,
        target: PixelArea, region: Rectangle, context: Context
    ) throws -> ProcessStep {
        let part = try (operation.sourceRegion ?? source.whole).alignedToChroma(in: source.layout)
        let conversion = PictureScaler.Conversion(
            source: .init(
                format: source.format.scaled, width: part.width, height: part.height, meaning: meanings.source),
            target: .init(
                format: target.layout.format.scaled, width: region.width, height: region.height,
                meaning: meanings.target), filter: operation.filter)
        guard let scaler = context.scalers.scaler(conversion) else {
            throw Refusal.operationFailed("libswscale is missing, or does not scale \(part) to \(region)")
        }
        return try ProcessStep(
            PixelArea(memory: try source.memory(), layout: source.layout, x: part.x, y: part.y),
            into: PixelArea(memory: target.memory, layout: target.layout, x: region.x, y: region.y), scaler: scaler,
            field: operation.field)
    }
}

extension Surface {
    fileprivate var whole: Driver.Rectangle { Driver.Rectangle(x: 0, y: 0, width: width, height: height) }
}

/// The scalers of a context, one per conversion; at most 8 are stored. The display's monitor guards the cache. The
/// scalers are used on the context's thread.
final class ScalerCache {
    private var scalers: [PictureScaler] = []
    private static let most = 8

    /// Returns the scaler for a conversion; nil if libswscale is missing or does not support the conversion.
    func scaler(_ conversion: PictureScaler.Conversion) -> PictureScaler? {
        if let known = scalers.first(where: { $0.conversion == conversion }) { return known }
        guard let made = PictureScaler(conversion) else { return nil }
        if scalers.count == Self.most { scalers.removeFirst() }
        scalers.append(made)
        return made
    }
}
