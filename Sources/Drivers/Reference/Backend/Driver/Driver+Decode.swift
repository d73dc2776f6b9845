internal import CVA

extension Driver {
    /// Checks a picture to decode and queues it. The caller must hold the monitor.
    func end(_ picture: DecodePicture, _ context: Context) throws {
        guard let worker = context.decoder else { throw Refusal.operationFailed("the context is not for decoding") }
        let target = picture.target
        guard surfaces[target.id] === target else {
            throw Refusal(VA_STATUS_ERROR_INVALID_SURFACE, "the render target was destroyed")
        }
        guard target.mappings == 0 else { throw Refusal.busy("surface \(target.id) is mapped") }
        // A picture that is still being reconstructed there must be complete before it is overwritten.
        if target.isWritten { _ = wait(for: target) }
        var pictures = context.decoded
        let mark = { [surfaces] in surfaces[$0]?.mark }
        let (packet, left): (DecodePacket, DecodeMark)
        switch picture.buffers {
        case .h264(let buffers):
            let plan = try H264DecodePlan(buffers)
            try check(plan.size, bitDepth: 8, target, context)
            (packet, left) = try plan.packet(target: target, of: context.id, &pictures, mark: mark)
        case .hevc(let buffers):
            let plan = try HEVCDecodePlan(buffers, maximumDepth: context.config.entry.bitDepth)
            try check(plan.size, bitDepth: plan.bitDepth, target, context)
            (packet, left) = try plan.packet(target: target, of: context.id, &pictures, mark: mark)
        }
        if !environment.isNull {
            let task = try DecodeTask(packet, into: target, as: left, worker: worker, counts: counts)
            try context.submit(Job(contextID: context.id, task: task, surfaces: [target]))
        }
        context.decoded = pictures
        target.isDecoded(left, continues: packet.continues)
    }

    /// Throws unless the context and the surface fit pictures of this size and bit depth.
    private func check(
        _ size: (width: Int, height: Int), bitDepth: Int, _ target: Surface, _ context: Context
    ) throws {
        guard (size.width + 15) / 16 <= context.widthInMacroblocks, (size.height + 15) / 16 <= context.heightInMacroblocks
        else { throw Refusal.resolution("a picture of \(size.width)x\(size.height) is too large for its context") }
        let decoded: SurfaceFormat = bitDepth > 8 ? .p010 : .nv12
        guard target.format == decoded else {
            throw Refusal(
                VA_STATUS_ERROR_INVALID_SURFACE,
                "surface \(target.id) has the format \(target.format.name), but the pictures are \(decoded.name)")
        }
    }
}
