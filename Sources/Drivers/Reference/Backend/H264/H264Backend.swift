internal import CVA

/// The slices of an H.264 picture.
struct H264Slices {
    var jobs: [H264SliceJob]
    /// The bit positions of the fields that are rewritten in the slice headers.
    var fields: [SliceFields]
    var picture: H264PictureParameterSet
    var isReference: Bool
    /// The size of the picture in macroblocks.
    var columns: Int
    var rows: Int
}

/// Converts H.264 parameter buffers and packed headers to jobs.
struct H264Backend: PictureBackend {
    let driver: Driver
    let context: Context

    private var behavior: DriverBehavior { driver.capabilities.behavior }

    func check(_ picture: EncodePicture, _ stream: inout StreamState) throws -> CheckedPicture<H264Slices> {
        try require(picture.pendingHeader == nil, "the data of the packed header parameters is missing")
        guard case .h264(let buffers) = picture.buffers else {
            throw Refusal.invalidParameter("the buffers are of another codec")
        }
        guard let sequence = buffers.sequence ?? stream.h264.sequence else {
            throw Refusal.invalidParameter("the picture has no sequence parameter buffer")
        }
        guard let parameters = buffers.parameters else {
            throw Refusal.invalidParameter("the picture has no picture parameter buffer")
        }
        try sequence.check(context.environment)
        try stream.setSize(
            width: 16 * Int(sequence.picture_width_in_mbs), height: 16 * Int(sequence.picture_height_in_mbs), context)
        try parameters.check(context.config, sequence: sequence)
        stream.h264.sequence = sequence
        try stream.begin(isRandomAccess: parameters.isIDR, context.environment)

        var units = try StreamUnits(picture.packed, codec: .h264) { try stream.h264.parameterSets.note($0) }
        let sets = try stream.h264.parameterSets.resolve(
            sequence, parameters, profile: H264Profile(context.config.entry.profile))
        units.insert(sets.written)
        var written = sets.picture
        if behavior.rewritesHeaders {
            units.rewritePictureSets()
            written.pic_init_qp = H264PictureParameterSet.usual_pic_init_qp
        }
        units.end(parameters.last_picture)
        let crop = try sets.sequence.visibleArea()

        let slices = buffers.slices
        let (columns, rows) = (stream.columns, stream.rows)
        let planner = H264SlicePlan(
            parameters: parameters, sequence: sets.sequence, picture: sets.picture, config: context.config,
            environment: context.environment)
        try sequence.checkReferences(of: parameters, slices, context.environment)
        for slice in slices { try slice.check(picture: parameters, context.config) }
        try planner.checkCoverage(slices, macroblocks: columns * rows)
        try units.checkSlices(count: slices.count, behavior)
        if behavior.enforcesSliceStructure {
            try planner.checkStructure(slices, widthInMacroblocks: columns)
        }
        var jobs: [H264SliceJob] = []
        var fields: [SliceFields] = []
        var references: [Surface] = []
        for (index, slice) in slices.enumerated() {
            var header = try planner.header(slice, packed: units.slices.isEmpty ? nil : units.slices[index])
            if behavior.rewritesHeaders {
                header = try planner.rewritten(header, for: written)
            }
            guard let fieldPositions = SliceFields(header, sequence: sets.sequence, picture: written) else {
                throw Refusal.invalidParameter("the slice header cannot be read")
            }
            fields.append(fieldPositions)
            // The alignment bits after the header are removed, because another slice_qp_delta or first_mb_in_slice
            // changes their number.
            if written.entropy_coding_mode_flag { header = header.shortened(to: fieldPositions.end) }
            let lists = try (0..<2).map { list in
                let surfaces = try listed(
                    slice, list: list, count: planner.activeCount(slice, list: list), parameters, stream)
                for surface in surfaces where !references.contains(where: { $0 === surface }) {
                    references.append(surface)
                }
                return surfaces.compactMap { $0.reconstruction?.h264 }
            }
            jobs.append(planner.job(slice, lists: lists, header: header))
        }
        let weighted = jobs.reduce(0) { $0 + $1.qp * $1.macroblockCount }
        let total = jobs.reduce(0) { $0 + $1.macroblockCount }
        let fieldBits = unsafe parameters.pic_fields.bits
        let type = jobs.contains { $0.type == .b } ? "B" : jobs.contains { $0.type == .p } ? "P" : "I"
        return CheckedPicture(
            slices: H264Slices(
                jobs: jobs, fields: fields, picture: written, isReference: fieldBits.reference_pic_flag != 0,
                columns: columns, rows: rows),
            units: units, codedBuffer: parameters.coded_buf,
            destination: parameters.CurrPic.flags & UInt32(VA_PICTURE_H264_INVALID) == 0
                ? parameters.CurrPic.picture_id : nil,
            references: references, isInter: type != "I", initialQP: written.pic_init_qp,
            averageQP: (weighted + total / 2) / total,
            rate: try context.ratedPicture(
                picture, SequenceRate(sequence), Self.kind(jobs), isIDR: fieldBits.idr_pic_flag == 1, &stream),
            record: PictureRecord(
                type: fieldBits.idr_pic_flag != 0 ? "IDR" : type,
                pictureOrderCount: Int(parameters.CurrPic.TopFieldOrderCnt), crop: crop))
    }

    func nullSlices(_ picture: CheckedPicture<H264Slices>) -> [[UInt8]] {
        context.nullSlices.units(for: picture.slices.jobs, width: picture.slices.columns)
    }

    func work(
        _ picture: CheckedPicture<H264Slices>, _ surfaces: PictureSurfaces, _ options: PictureOptions
    ) -> EncodeWork {
        let header = picture.slices.picture
        let (columns, rows) = (picture.slices.columns, picture.slices.rows)
        let (target, memory) = (surfaces.target, surfaces.memory)
        let source = SourcePicture(
            luma: memory.elements(at: target.layout.offsets[0]), chroma: memory.elements(at: target.layout.offsets[1]),
            lumaPitch: target.layout.pitches[0], chromaPitch: target.layout.pitches[1],
            width: min(target.width, 16 * columns), height: min(target.height, 16 * rows))
        var job = H264PictureJob(
            widthInMacroblocks: columns, heightInMacroblocks: rows, source: source,
            reconstruction: reconstruction(surfaces.destination, columns, rows),
            transform8x8: header.transform_8x8_mode_flag,
            constrained_intra_pred_flag: header.constrained_intra_pred_flag,
            chroma_qp_index_offset: header.chroma_qp_index_offset,
            second_chroma_qp_index_offset: header.crQPIndexOffset, quality: options.quality,
            slices: picture.slices.jobs)
        job.isReference = picture.slices.isReference
        job.intraRefresh = options.intraRefresh
        job.choosesLevels = options.trellis.isRequested(for: job.slices.map(\.type).first { $0 != .i } ?? .i)
        return .h264(H264Work(job: job, sliceFields: picture.slices.fields, initialQP: header.pic_init_qp))
    }

    /// Returns the picture for the reconstruction in `surface`: the existing one if it has this size, else a new one.
    private func reconstruction(_ surface: Surface, _ width: Int, _ height: Int) -> H264ReconstructedPicture {
        if let picture = surface.reconstruction?.h264, picture.widthInMacroblocks == width,
            picture.heightInMacroblocks == height
        {
            return picture
        }
        return H264ReconstructedPicture(widthInMacroblocks: width, heightInMacroblocks: height)
    }

    private static func kind(_ slices: [H264SliceJob]) -> RatedPicture.Kind {
        // nal_ref_idc of the headers decides, because reference_pic_flag of some clients differs from it.
        let isReference = slices.contains { ($0.header.prefix.last ?? 0) >> 5 & 3 != 0 }
        return .init(
            isPredicted: slices.contains { $0.type == .p }, isBidirectional: slices.contains { $0.type == .b },
            isReference: isReference)
    }

    /// Returns the surfaces of a slice's reference list. Throws unless each contains a picture of the current size.
    private func listed(
        _ slice: VAEncSliceParameterBufferH264, list: Int, count: Int, _ parameters: VAEncPictureParameterBufferH264,
        _ stream: StreamState
    ) throws -> [Surface] {
        guard count > 0 else { return [] }
        let entries =
            list == 0
            ? FixedArray.values(slice.RefPicList0, as: VAPictureH264.self, count: count)
            : FixedArray.values(slice.RefPicList1, as: VAPictureH264.self, count: count)
        let frames = FixedArray.values(parameters.ReferenceFrames, as: VAPictureH264.self, count: 16)
        return try entries.map { entry in
            try require(entry.isValid, "RefPicList\(list) has fewer than \(count) pictures")
            let surface = try driver.surface(entry.picture_id)
            try require(
                frames.contains { $0.isValid && $0.picture_id == entry.picture_id },
                "RefPicList\(list) names surface \(entry.picture_id), but ReferenceFrames does not")
            try require(
                entry.picture_id != parameters.CurrPic.picture_id, "the picture is its own reference")
            if driver.environment.isNull { return surface }
            guard let picture = surface.reconstruction?.h264 else {
                throw Refusal.invalidParameter(
                    "surface \(entry.picture_id) is a reference, but contains no coded "
                        + "picture")
            }
            try require(
                picture.widthInMacroblocks == stream.columns && picture.heightInMacroblocks == stream.rows,
                "the reference in surface \(entry.picture_id) has another size")
            return surface
        }
    }
}
