internal import CVA

extension Driver {
    /// vaEndPicture: checks everything and queues the picture. Whatever comes of it, the picture is closed.
    func endPicture(_ id: VAContextID) throws {
        try monitor.withLock {
            let context = try context(id)
            guard let picture = context.picture else {
                throw Refusal.operationFailed("vaEndPicture without vaBeginPicture")
            }
            context.picture = nil
            var stream = context.stream
            let plan = try plan(picture, &stream, context)
            let coded = try codedBuffer(plan.parameters.coded_buf)
            if environment.isNull {
                coded.write(
                    plan.units.leading + context.nullSlices.units(for: plan.slices, width: context.widthInMacroblocks)
                        + plan.units.trailing,
                    headers: plan.units.leading.count, averageQP: plan.averageQP,
                    maximumFrameBits: stream.maximumFrameBits, manners: capabilities.manners)
            } else {
                try submit(plan, picture, stream, coded, context)
            }
            context.stream = stream
        }
    }

    /// A picture whose buffers agree with each other.
    private struct Plan {
        var parameters: VAEncPictureParameterBufferH264
        var sequence: SequenceHeader
        var picture: PictureHeader
        var units: StreamUnits
        var slices: [SliceJob]
        /// In the lists of `slices`.
        var references: [Surface]
        var fields: [SliceFields]
        var averageQP: Int
        var rate: RatedPicture?
    }

    private func plan(_ picture: OpenPicture, _ stream: inout StreamState, _ context: Context) throws -> Plan {
        try require(picture.announced == nil, "packed header parameters without their data")
        guard let sequence = picture.sequence ?? stream.sequence else {
            throw Refusal.invalidParameter("a picture without a sequence parameter buffer")
        }
        guard let parameters = picture.parameters else {
            throw Refusal.invalidParameter("a picture without a picture parameter buffer")
        }
        try sequence.check(
            widthInMacroblocks: context.widthInMacroblocks, heightInMacroblocks: context.heightInMacroblocks)
        try parameters.check(context.config, sequence: sequence)
        stream.sequence = sequence

        var units = try StreamUnits(picture.packed, noting: &stream.parameterSets)
        let sets = try stream.parameterSets.resolve(
            sequence, parameters, profile: DriverProfile(context.config.entry.profile))
        units.insert(sets.written)
        var written = sets.picture
        if capabilities.manners.rewritesHeaders {
            units.rewritePictureSets()
            written.initialQP = PictureHeader.usualQP
        }
        units.end(parameters.last_picture)
        _ = try sets.sequence.visibleArea()

        let slices = picture.slices
        let planner = SlicePlan(
            parameters: parameters, sequence: sets.sequence, picture: sets.picture, config: context.config)
        for slice in slices { try slice.check(picture: parameters, context.config) }
        try planner.checkCoverage(slices, macroblocks: context.widthInMacroblocks * context.heightInMacroblocks)
        try require(
            units.slices.isEmpty || units.slices.count == slices.count,
            "\(units.slices.count) packed slice headers for \(slices.count) slices")
        try require(
            !capabilities.manners.needsSliceHeaders || !units.slices.isEmpty,
            "slices without packed headers, which this driver needs")
        if capabilities.manners.keepsSliceStructure {
            try planner.checkStructure(slices, widthInMacroblocks: context.widthInMacroblocks)
        }
        var jobs: [SliceJob] = []
        var fields: [SliceFields] = []
        var references: [Surface] = []
        for (index, slice) in slices.enumerated() {
            var header = try planner.header(slice, packed: units.slices.isEmpty ? nil : units.slices[index])
            if capabilities.manners.rewritesHeaders {
                header = try planner.rewritten(header, for: written)
            }
            guard let places = SliceFields(header, sequence: sets.sequence, picture: written) else {
                throw Refusal.invalidParameter("a slice header that cannot be read")
            }
            fields.append(places)
            // Another slice_qp_delta, or another first_mb_in_slice, moves what aligned the data.
            if written.cabac { header = header.shortened(to: places.end) }
            let lists = try (0..<2).map { list in
                let surfaces = try listed(
                    slice, list: list, count: planner.activeCount(slice, list: list), parameters, context)
                for surface in surfaces where !references.contains(where: { $0 === surface }) {
                    references.append(surface)
                }
                return surfaces.compactMap(\.reconstruction)
            }
            jobs.append(planner.job(slice, lists: lists, header: header))
        }
        let weighted = jobs.reduce(0) { $0 + $1.qp * $1.macroblockCount }
        let total = jobs.reduce(0) { $0 + $1.macroblockCount }
        return Plan(
            parameters: parameters, sequence: sets.sequence, picture: written, units: units, slices: jobs,
            references: references, fields: fields, averageQP: (weighted + total / 2) / total,
            rate: try rated(picture, sequence, jobs, &stream, context))
    }

    /// What the rate controller must know of a picture; nil at constant QPs.
    private func rated(
        _ picture: OpenPicture, _ sequence: VAEncSequenceParameterBufferH264, _ slices: [SliceJob],
        _ stream: inout StreamState, _ context: Context
    ) throws -> RatedPicture? {
        let fields = unsafe picture.parameters?.pic_fields.bits
        stream.pictureNumber = fields?.idr_pic_flag == 1 ? 0 : stream.pictureNumber + 1
        guard let mode = context.config.rateMode else { return nil }
        let settings = try stream.rate.settings(
            mode, sequence: sequence, maximumFrameBits: stream.maximumFrameBits)
        // nal_ref_idc: clients' flags and headers may differ.
        let isReference = slices.contains { ($0.header.prefix.last ?? 0) >> 5 & 3 != 0 }
        let kind: RatedPicture.Kind =
            if slices.contains(where: { $0.type == .b }) {
                isReference ? .bidirectionalReference : .disposable
            } else if slices.contains(where: { $0.type == .p }) {
                isReference ? .predicted : .disposable
            } else {
                .intra
            }
        var rated = RatedPicture(
            settings: settings, kind: kind, layer: stream.rate.layer(ofPicture: stream.pictureNumber, settings),
            samples: 256 * context.widthInMacroblocks * context.heightInMacroblocks)
        if let skip = picture.skip, skip.skip_frame_flag == 1 {
            rated.skippedPictures = Int(skip.num_skip_frames)
            rated.skippedBits = Int(skip.size_skip_frames)
        }
        return rated
    }

    /// The surfaces of a slice's reference list, each of which must hold a picture of this size.
    private func listed(
        _ slice: VAEncSliceParameterBufferH264, list: Int, count: Int,
        _ parameters: VAEncPictureParameterBufferH264, _ context: Context
    ) throws -> [Surface] {
        guard count > 0 else { return [] }
        let entries =
            list == 0
            ? FixedArray.values(slice.RefPicList0, as: VAPictureH264.self, count: count)
            : FixedArray.values(slice.RefPicList1, as: VAPictureH264.self, count: count)
        let frames = FixedArray.values(parameters.ReferenceFrames, as: VAPictureH264.self, count: 16)
        return try entries.map { entry in
            try require(entry.isValid, "RefPicList\(list) has fewer than \(count) pictures")
            let surface = try surface(entry.picture_id)
            try require(
                frames.contains { $0.isValid && $0.picture_id == entry.picture_id },
                "RefPicList\(list) names surface \(entry.picture_id), which ReferenceFrames does not")
            try require(
                entry.picture_id != parameters.CurrPic.picture_id, "a picture that is its own reference")
            if environment.isNull { return surface }
            guard let picture = surface.reconstruction else {
                throw Refusal.invalidParameter("surface \(entry.picture_id) is a reference but holds no coded picture")
            }
            try require(
                picture.widthInMacroblocks == context.widthInMacroblocks
                    && picture.heightInMacroblocks == context.heightInMacroblocks,
                "the reference in surface \(entry.picture_id) is of another size")
            return surface
        }
    }

    private func codedBuffer(_ id: VABufferID) throws -> CodedBuffer {
        let buffer = try buffer(id)
        guard case .coded(let coded) = buffer.content else {
            throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "coded_buf names a buffer of type \(buffer.type.rawValue)")
        }
        guard !buffer.isMapped else { throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "coded_buf is mapped") }
        guard coded.job == nil else {
            throw Refusal.operationFailed("coded_buf still belongs to an earlier picture that nobody synchronised")
        }
        return coded
    }

    private func submit(
        _ plan: Plan, _ picture: OpenPicture, _ stream: StreamState, _ coded: CodedBuffer, _ context: Context
    ) throws {
        let target = picture.target
        guard surfaces[target.id] === target else {
            throw Refusal(VA_STATUS_ERROR_INVALID_SURFACE, "the render target was destroyed")
        }
        let current = plan.parameters.CurrPic
        try require(current.flags & UInt32(VA_PICTURE_H264_INVALID) == 0, "CurrPic is marked as invalid")
        let destination = try surface(current.picture_id)
        try require(destination !== target, "CurrPic is the render target")
        guard (destination.width + 15) / 16 >= context.widthInMacroblocks,
            (destination.height + 15) / 16 >= context.heightInMacroblocks
        else {
            throw Refusal.resolution(
                "CurrPic's surface of \(destination.width)x\(destination.height) is too small for its context")
        }
        guard destination.mappings == 0 else { throw Refusal.busy("CurrPic's surface is mapped") }

        let source = try sourcePicture(target, context)
        let reconstruction = context.reconstruction(for: destination)
        let isIDR = unsafe plan.parameters.pic_fields.bits.idr_pic_flag != 0
        let type =
            plan.slices.contains { $0.type == .b } ? "B" : plan.slices.contains { $0.type == .p } ? "P" : "I"
        var job = PictureJob(
            widthInMacroblocks: context.widthInMacroblocks, heightInMacroblocks: context.heightInMacroblocks,
            source: source, reconstruction: reconstruction, transform8x8: plan.picture.transform8x8,
            constrainedIntraPrediction: plan.picture.constrainedIntraPrediction,
            chromaQPIndexOffset: plan.picture.chromaQPIndexOffset,
            secondChromaQPIndexOffset: plan.picture.secondChromaQPIndexOffset, quality: stream.quality,
            slices: plan.slices)
        job.isReference = unsafe plan.parameters.pic_fields.bits.reference_pic_flag != 0
        job.intraRefresh = intraRefresh(picture, plan, context)
        job.choosesLevels = stream.trellis.isAsked(plan.slices.map(\.type).first { $0 != .i } ?? .i)
        let record = PictureRecord(
            type: isIDR ? "IDR" : type, pictureOrderCount: Int(current.TopFieldOrderCnt),
            crop: try plan.sequence.visibleArea())
        var planned = PlannedPicture(
            encode: job, leading: plan.units.leading, trailing: plan.units.trailing, sliceFields: plan.fields,
            initialQP: plan.picture.initialQP, qpDeltas: qpDeltas(picture, plan, context),
            maximumSliceBytes: stream.maximumSliceBytes, rate: plan.rate,
            isSkipped: picture.skip?.skip_frame_flag == 2, maximumFrameBits: stream.maximumFrameBits, record: record)
        planned.adaptsMacroblocks = plan.rate != nil && context.config.adaptsMacroblocks(stream.macroblockRateControl)
        let used = [target, destination] + plan.references
        let dependencies = used.flatMap(\.jobs).filter { $0.contextID != context.id }
        try context.submit(
            EncodeJob(
                contextID: context.id, picture: planned, surfaces: used, coded: coded, dependencies: dependencies))
        if !planned.isSkipped { destination.become(reconstruction) }
    }

    /// What regions of interest and inserted intra macroblocks add to QPs.
    private func qpDeltas(_ picture: OpenPicture, _ plan: Plan, _ context: Context) -> [Int]? {
        let (width, height) = (context.widthInMacroblocks, context.heightInMacroblocks)
        var deltas = picture.regions?.deltas(
            widthInMacroblocks: width, heightInMacroblocks: height, isConstantQP: plan.rate == nil)
        guard let parameters = picture.intraRefresh, parameters.qp_delta_for_inserted_intra != 0,
            let refresh = intraRefresh(picture, plan, context)
        else { return deltas }
        let (columns, rows) =
            switch refresh {
            case .columns(let columns): (columns, 0..<height)
            case .rows(let rows): (0..<width, rows)
            }
        var sums = deltas ?? [Int](repeating: 0, count: width * height)
        for y in rows {
            for x in columns { sums[y * width + x] += Int(Int8(bitPattern: parameters.qp_delta_for_inserted_intra)) }
        }
        deltas = sums
        return deltas
    }

    /// The columns or rows that rolling intra refresh renews in this picture, inside it.
    private func intraRefresh(_ picture: OpenPicture, _ plan: Plan, _ context: Context) -> IntraRefresh? {
        guard let parameters = picture.intraRefresh, plan.slices.contains(where: { $0.type != .i }) else { return nil }
        let flags = unsafe parameters.rir_flags.bits
        func range(_ count: Int) -> Range<Int> {
            let first = min(Int(parameters.intra_insertion_location), count)
            return first..<min(first + Int(parameters.intra_insert_size), count)
        }
        if flags.enable_rir_column != 0 { return .columns(range(context.widthInMacroblocks)) }
        if flags.enable_rir_row != 0 { return .rows(range(context.heightInMacroblocks)) }
        return nil
    }

    private func sourcePicture(_ target: Surface, _ context: Context) throws -> SourcePicture {
        // A picture still being reconstructed there must be whole before it is read.
        if target.isWritten { _ = wait(for: target) }
        let memory = try target.memory()
        return SourcePicture(
            luma: memory.lane(at: 0), chroma: memory.lane(at: target.chromaOffset), lumaPitch: target.pitch,
            chromaPitch: target.pitch, width: min(target.width, 16 * context.widthInMacroblocks),
            height: min(target.height, 16 * context.heightInMacroblocks))
    }
}
