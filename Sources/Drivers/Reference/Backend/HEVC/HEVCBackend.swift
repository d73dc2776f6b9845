internal import CVA

/// The slices of an HEVC picture.
struct HEVCSlices {
    var jobs: [HEVCSliceJob]
    var headers: [HEVCSliceSegmentHeader]
    var sequence: HEVCSequenceParameterSet
    var picture: HEVCPictureParameterSet
    var tiles: HEVCTiles
    var pictureOrderCount: Int
    var isReference: Bool
}

/// The sequence parameters and parameter sets of an HEVC stream so far.
struct HEVCStream {
    var sequence: VAEncSequenceParameterBufferHEVC?
    var parameterSets = HEVCParameterSets()
    /// The picture parameter set in the stream, if the driver rewrites the client's sets.
    var writtenPicture: HEVCPictureParameterSet?
    /// The picture order count of the last reference picture.
    var pictureOrderCount = 0
    /// Whether a picture of the stream had regions of interest. From then on QPs may change inside pictures.
    var hasRegions = false
}

/// Converts HEVC parameter buffers and packed headers to jobs.
struct HEVCBackend: PictureBackend {
    let driver: Driver
    let context: Context

    var behavior: HEVCBehavior { driver.capabilities.behavior.hevc }

    func check(_ picture: EncodePicture, _ stream: inout StreamState) throws -> CheckedPicture<HEVCSlices> {
        try require(picture.pendingHeader == nil, "the data of the packed header parameters is missing")
        guard case .hevc(var buffers) = picture.buffers else {
            throw Refusal.invalidParameter("the buffers are of another codec")
        }
        guard var sequence = buffers.sequence ?? stream.hevc.sequence else {
            throw Refusal.invalidParameter("the picture has no sequence parameter buffer")
        }
        try sequence.setProfile(of: context)
        guard var parameters = buffers.parameters else {
            throw Refusal.invalidParameter("the picture has no picture parameter buffer")
        }
        try parameters.setUnitType(packed: picture.packed, context.environment)
        try sequence.check(context, behavior)
        try stream.setSize(
            width: Int(sequence.pic_width_in_luma_samples), height: Int(sequence.pic_height_in_luma_samples), context)
        try parameters.check(context.config, HEVCSequenceParameterSet(sequence), behavior)
        stream.hevc.sequence = sequence
        try stream.begin(isRandomAccess: parameters.nal_unit_type >= 16, context.environment)
        stream.hevc.hasRegions = stream.hevc.hasRegions || picture.regions != nil

        var units = try StreamUnits(picture.packed, codec: .hevc) {
            try stream.hevc.parameterSets.note($0, isOnlyRead: behavior.writesOwnSets)
        }
        let sets = try parameterSets(sequence, parameters, &units, &stream)
        try renumber(&parameters, slices: &buffers.slices, units: units, sets: sets, stream: stream)
        let written = sets.written
        stream.refreshBlock = written.sequence.grid.codingTreeSize
        units.end(parameters.last_picture)
        let crop = try written.sequence.visibleArea()
        let grid = written.sequence.grid
        guard let tiles = written.picture.tiles.map({ $0.bounds(grid) }) ?? HEVCTiles(grid) else {
            throw Refusal.invalidParameter("the tiles do not fit the picture")
        }
        try require(
            stream.maximumSliceBytes == 0 || !tiles.isEnabled,
            "a limit on slice bytes is not supported with several "
                + "tiles")

        try checkLevel(tiles, written.sequence)
        for slice in buffers.slices { try slice.check(parameters, context.config, behavior) }
        let given = HEVCSequenceParameterSet(sequence).grid
        try checkCoverage(
            buffers.slices, behavior.hasOwnBlocks ? HEVCTiles(given) : tiles, behavior.hasOwnBlocks ? given : grid)
        try units.checkSlices(count: buffers.slices.count, driver.capabilities.behavior)
        try checkOffsets(buffers.slices)
        var slices = HEVCSlices(
            jobs: [], headers: [], sequence: written.sequence, picture: written.picture, tiles: tiles,
            pictureOrderCount: Int(parameters.decoded_curr_pic.pic_order_cnt),
            isReference: parameters.nal_unit_type >= 16 || parameters.nal_unit_type & 1 != 0)
        var references: [Surface] = []
        let planner = HEVCSlicePlan(backend: self, parameters: parameters, asked: sets.asked, written: written)
        let layout = behavior.layout(
            buffers.slices.map { (Int($0.slice_segment_address), Int($0.num_ctu_in_slice)) }, of: grid.codingTrees)
        for (index, extent) in layout.enumerated() {
            let slice = buffers.slices[min(index, buffers.slices.count - 1)]
            let packed = units.slices.isEmpty ? nil : units.slices[min(index, units.slices.count - 1)]
            var (header, bits) = try planner.header(slice, packed: packed)
            if extent.first != header.slice_segment_address {
                header.slice_segment_address = extent.first
                bits = planner.bits(header, like: bits)
            }
            let lists = try planner.lists(slice, header)
            for surface in lists.joined().map(\.surface) where !references.contains(where: { $0 === surface }) {
                references.append(surface)
            }
            try checkLists(slice, lists, picture)
            slices.headers.append(header)
            slices.jobs.append(
                try planner.job(header, bits, lists, first: extent.first, count: extent.count, parameters))
        }
        return try checked(
            slices, units: units, parameters: parameters, references: references, crop: crop, picture: picture,
            sequence: sequence, stream: &stream)
    }

    private func checked(
        _ slices: HEVCSlices, units: StreamUnits, parameters: VAEncPictureParameterBufferHEVC,
        references: [Surface], crop: CroppedArea, picture: EncodePicture,
        sequence: VAEncSequenceParameterBufferHEVC, stream: inout StreamState
    ) throws -> CheckedPicture<HEVCSlices> {
        let jobs = slices.jobs
        let total = jobs.reduce(0) { $0 + $1.codingTreeCount }
        let weighted = jobs.reduce(0) { $0 + $1.qp * $1.codingTreeCount }
        if slices.isReference { stream.hevc.pictureOrderCount = slices.pictureOrderCount }
        let type = jobs.contains { $0.type == .b } ? "B" : jobs.contains { $0.type == .p } ? "P" : "I"
        // A B picture with past references only (generalized P) costs as much as a P picture.
        let looksAhead = jobs.contains { ($0.list0 + $0.list1).contains { $0.poc > slices.pictureOrderCount } }
        let kind = RatedPicture.Kind(
            isPredicted: type != "I", isBidirectional: looksAhead, isReference: slices.isReference)
        return CheckedPicture(
            slices: slices, units: units, codedBuffer: parameters.coded_buf,
            destination: parameters.decoded_curr_pic.isValid ? parameters.decoded_curr_pic.picture_id : nil,
            references: references, isInter: type != "I", initialQP: slices.picture.init_qp,
            averageQP: (weighted + total / 2) / total,
            rate: try context.ratedPicture(picture, SequenceRate(sequence), kind, isIDR: parameters.isIDR, &stream),
            record: PictureRecord(
                type: parameters.isIDR ? "IDR" : type, pictureOrderCount: slices.pictureOrderCount, crop: crop))
    }

    func nullSlices(_ picture: CheckedPicture<HEVCSlices>) -> [[UInt8]] {
        let slices = picture.slices
        return HEVCNullSlices.units(for: slices.jobs, slices.sequence, slices.picture, slices.tiles)
    }

    func work(
        _ picture: CheckedPicture<HEVCSlices>, _ surfaces: PictureSurfaces, _ options: PictureOptions
    ) -> EncodeWork {
        let slices = picture.slices
        let grid = slices.sequence.grid
        let (target, memory) = (surfaces.target, surfaces.memory)
        let source = HEVCSource(
            luma: memory.elements(at: target.layout.offsets[0]), chroma: memory.elements(at: target.layout.offsets[1]),
            lumaPitch: target.layout.pitches[0], chromaPitch: target.layout.pitches[1],
            width: min(target.width, grid.width), height: min(target.height, grid.height), isP010: target.isWide)
        var job = job(slices, source, reconstruction(surfaces.destination, slices.sequence))
        job.quality = options.quality
        job.intraRefresh = options.intraRefresh
        job.choosesLevels = options.trellis.isRequested(for: job.slices.map(\.type).first { $0 != .i } ?? .i)
        return .hevc(
            HEVCWork(
                job: job, headers: slices.headers, sequence: slices.sequence, picture: slices.picture,
                writesHash: driver.environment.writesHashes))
    }

    /// Returns the picture for the reconstruction in `surface`: the existing one if its size, block sizes and bit depth
    /// match, else a new one.
    private func reconstruction(_ surface: Surface, _ sequence: HEVCSequenceParameterSet) -> HEVCReconstructedPicture {
        if let picture = surface.reconstruction?.hevc, picture.grid == sequence.grid,
            picture.bitDepth == sequence.bit_depth_luma
        {
            return picture
        }
        return HEVCReconstructedPicture(grid: sequence.grid, bitDepth: sequence.bit_depth_luma)
    }

    /// Returns the job that encodes `source` and writes the decoded picture to `reconstruction`.
    private func job(
        _ slices: HEVCSlices, _ source: HEVCSource, _ reconstruction: HEVCReconstructedPicture
    ) -> HEVCPictureJob {
        let (sequence, picture) = (slices.sequence, slices.picture)
        var job = HEVCPictureJob(
            grid: sequence.grid, source: source, reconstruction: reconstruction, poc: slices.pictureOrderCount,
            slices: slices.jobs)
        job.tiles = slices.tiles
        job.bitDepth = sequence.bit_depth_luma
        job.max_transform_hierarchy_depth_inter = sequence.max_transform_hierarchy_depth_inter
        job.max_transform_hierarchy_depth_intra = sequence.max_transform_hierarchy_depth_intra
        job.amp_enabled_flag = sequence.amp_enabled_flag
        job.strong_intra_smoothing_enabled_flag = sequence.strong_intra_smoothing_enabled_flag
        job.constrained_intra_pred_flag = picture.constrained_intra_pred_flag
        job.hasTransformSkip = picture.transform_skip_enabled_flag
        job.sign_data_hiding_enabled_flag = picture.sign_data_hiding_enabled_flag
        job.qpDeltaDepth = picture.diff_cu_qp_delta_depth
        job.log2_parallel_merge_level = picture.log2_parallel_merge_level
        job.cbQPOffset = picture.pps_cb_qp_offset
        job.crQPOffset = picture.pps_cr_qp_offset
        job.loop_filter_across_tiles_enabled_flag = picture.tiles?.loop_filter_across_tiles_enabled_flag ?? true
        job.isReference = slices.isReference
        return job
    }
}
