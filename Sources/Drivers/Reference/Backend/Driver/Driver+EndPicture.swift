internal import CVA

extension Driver {
    /// Checks the picture and queues it (vaEndPicture). The picture is closed in any case.
    func endPicture(_ id: VAContextID) throws {
        try monitor.withLock {
            let context = try context(id)
            guard let picture = context.picture else {
                throw Refusal.operationFailed("vaEndPicture was called without vaBeginPicture")
            }
            context.picture = nil
            switch picture {
            case .encode(let picture):
                switch picture.codec {
                case .h264: try end(picture, context, H264Backend(driver: self, context: context))
                case .hevc: try end(picture, context, HEVCBackend(driver: self, context: context))
                }
            case .decode(let picture): try end(picture, context)
            case .process(let picture): try end(picture, context)
            }
        }
    }

    private func end<Backend: PictureBackend>(_ picture: EncodePicture, _ context: Context, _ backend: Backend) throws {
        var stream = context.stream
        let checked = try backend.check(picture, &stream)
        let coded = try codedBuffer(checked.codedBuffer)
        if environment.isNull {
            var units = checked.units.leading + backend.nullSlices(checked) + checked.units.trailing
            let missing = environment.nullBytes - units.reduce(0) { $0 + $1.count }
            let filler = FillerUnit(picture.codec)
            if missing >= filler.minimumBytes { units.append(filler.bytes(missing)) }
            coded.write(
                units, headers: checked.units.leading.count, averageQP: checked.averageQP,
                maximumFrameBits: stream.maximumFrameBits, behavior: capabilities.behavior)
        } else {
            try submit(checked, picture: picture, stream: stream, coded: coded, context: context, backend: backend)
        }
        context.stream = stream
    }

    private func codedBuffer(_ id: VABufferID) throws -> CodedBuffer {
        let buffer = try buffer(id)
        guard case .coded(let coded) = buffer.content else {
            throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "coded_buf names a buffer of type \(buffer.type.rawValue)")
        }
        guard !buffer.isMapped else { throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "coded_buf is mapped") }
        guard coded.job == nil else {
            throw Refusal.operationFailed("coded_buf still belongs to an earlier picture that was not synchronized")
        }
        return coded
    }

    private func submit<Backend: PictureBackend>(
        _ checked: CheckedPicture<Backend.Slices>, picture: EncodePicture, stream: StreamState, coded: CodedBuffer,
        context: Context, backend: Backend
    ) throws {
        let target = picture.target
        guard surfaces[target.id] === target else {
            throw Refusal(VA_STATUS_ERROR_INVALID_SURFACE, "the render target was destroyed")
        }
        guard let current = checked.destination else {
            throw Refusal.invalidParameter("the picture to reconstruct is marked as invalid")
        }
        let destination = try surface(current)
        try require(destination !== target, "the picture is reconstructed into the render target")
        try context.validateSurface(destination)
        guard destination.mappings == 0 else { throw Refusal.busy("the reconstruction's surface is mapped") }

        // A picture that is still being reconstructed there must be complete before it is read.
        if target.isWritten { _ = wait(for: target) }
        let refresh = intraRefresh(picture, isInter: checked.isInter, stream)
        let work = backend.work(
            checked, PictureSurfaces(target: target, memory: try target.memory(), destination: destination),
            PictureOptions(quality: stream.quality, intraRefresh: refresh, trellis: stream.trellis))
        var planned = PlannedPicture(
            encode: work, columns: stream.columns, rows: stream.rows, leading: checked.units.leading, trailing: checked.units.trailing,
            initialQP: checked.initialQP,
            qpDeltas: qpDeltas(picture, refresh, isConstantQP: checked.rate == nil, stream),
            maximumSliceBytes: stream.maximumSliceBytes, rate: checked.rate,
            isSkipped: picture.skip?.skip_frame_flag == 2, maximumFrameBits: stream.maximumFrameBits,
            record: checked.record)
        planned.adaptsMacroblocks =
            checked.rate != nil && context.config.adaptsMacroblocks(stream.macroblockRateControl)
        let used = [target, destination] + checked.references
        let job = Job(
            contextID: context.id, task: EncodeTask(planned, into: coded, worker: context.encoder), surfaces: used)
        try context.submit(job)
        coded.job = job
        if !planned.isSkipped { destination.become(work.reconstruction) }
    }

    /// Returns the QP deltas of 16×16 areas from regions of interest and inserted intra blocks; nil if there are none.
    private func qpDeltas(
        _ picture: EncodePicture, _ refresh: IntraRefresh?, isConstantQP: Bool, _ stream: StreamState
    ) -> [Int]? {
        let (width, height) = (stream.columns, stream.rows)
        let deltas = picture.regions?.deltas(
            widthInMacroblocks: width, heightInMacroblocks: height, isConstantQP: isConstantQP)
        guard let parameters = picture.intraRefresh, parameters.qp_delta_for_inserted_intra != 0, let refresh else {
            return deltas
        }
        let scale = stream.refreshBlock / 16
        func areas(_ blocks: Range<Int>, _ count: Int) -> Range<Int> {
            min(scale * blocks.lowerBound, count)..<min(scale * blocks.upperBound, count)
        }
        let (columns, rows) =
            switch refresh {
            case .columns(let columns): (areas(columns, width), 0..<height)
            case .rows(let rows): (0..<width, areas(rows, height))
            }
        var sums = deltas ?? [Int](repeating: 0, count: width * height)
        for y in rows {
            for x in columns { sums[y * width + x] += Int(Int8(bitPattern: parameters.qp_delta_for_inserted_intra)) }
        }
        return sums
    }

    /// Returns the columns or rows of blocks that rolling intra refresh codes as intra in this picture, limited to the
    /// picture.
    private func intraRefresh(_ picture: EncodePicture, isInter: Bool, _ stream: StreamState) -> IntraRefresh? {
        guard let parameters = picture.intraRefresh, isInter else { return nil }
        let flags = unsafe parameters.rir_flags.bits
        func range(_ areas: Int) -> Range<Int> {
            let count = (16 * areas + stream.refreshBlock - 1) / stream.refreshBlock
            let first = min(Int(parameters.intra_insertion_location), count)
            return first..<min(first + Int(parameters.intra_insert_size), count)
        }
        if flags.enable_rir_column != 0 { return .columns(range(stream.columns)) }
        if flags.enable_rir_row != 0 { return .rows(range(stream.rows)) }
        return nil
    }
}
