import ReferenceDriver
import TestOracles
import Testing

/// Tests that pictures coded with random choices, and with the search, decode to their reconstruction.
@Suite struct HEVCEncodeTests {
    @Test(arguments: [8, 10]) func intraPicturesWithoutLevelsDecode(bitDepth: Int) {
        var encoding = HEVCEncoding()
        encoding.bitDepth = bitDepth
        encoding.configureSlice = { $0.slice_deblocking_filter_disabled_flag = true }
        let chooser = HEVCEncodeChooser(seed: 1)
        chooser.fixed = [.levels, .partition]
        encoding.chooser = chooser
        check(encoding)
    }

    @Test(arguments: [8, 10]) func intraPicturesWithLevelsDecode(bitDepth: Int) {
        var encoding = HEVCEncoding()
        encoding.bitDepth = bitDepth
        encoding.configureSlice = { $0.slice_deblocking_filter_disabled_flag = true }
        encoding.chooser = HEVCEncodeChooser(seed: 2)
        check(encoding)
    }

    @Test(arguments: [8, 10]) func searchedIntraPicturesDecode(bitDepth: Int) {
        var encoding = HEVCEncoding()
        encoding.bitDepth = bitDepth
        encoding.grid = HEVCGrid(width: 136, height: 72)
        encoding.configureSlice = { $0.slice_deblocking_filter_disabled_flag = true }
        check(encoding)
    }

    /// No slice exceeds the limit except those of one coding tree unit, and the whole picture is coded.
    @Test(arguments: [200, 700, 1500]) func slicesKeepTheirSizeLimit(limit: Int) {
        var encoding = HEVCEncoding()
        encoding.grid = HEVCGrid(width: 200, height: 136, log2CodingTreeBlock: 4, log2MaxTransformBlock: 4)
        encoding.structure = .forward
        encoding.frames = 3
        encoding.qp = 20
        encoding.hasNoise = limit == 1500
        encoding.temporalMotion = true
        encoding.sliceByteLimit = limit
        let outcome = encoding.run()
        #expect(outcome.results.contains { $0.slices.count > 2 })
        for slice in outcome.results.flatMap(\.slices) where slice.count > limit {
            // 16×16 samples of noise take a few hundred bytes.
            #expect(limit == 200 && slice.count < 600)
        }
        check(encoding)
    }

    /// The client's QPs are used wherever there are levels, in groups of one or more areas.
    @Test(arguments: 0...2) func areaQPsAreUsed(depth: Int) {
        var encoding = HEVCEncoding()
        encoding.grid = HEVCGrid(width: 136, height: 72)
        encoding.hasNoise = true
        encoding.qp = 20
        let areas = (0..<encoding.grid.areaColumns * encoding.grid.areaRows).map { Int8(15 + $0 * 7 % 30) }
        encoding.configure = { job in
            job.qpDeltaDepth = depth
            job.areaQPs = areas
        }
        check(encoding)
        if depth == 2 {
            let sum = areas.map(Int.init).reduce(0, +)
            #expect(encoding.run().results[0].qpSum == sum)
        }
    }

    /// A decoder that has another picture before a pass of intra refresh is correct after it.
    @Test(arguments: [false, true]) func intraRefreshRepairsThePicture(isRows: Bool) {
        var encoding = HEVCEncoding()
        encoding.grid = HEVCGrid(width: 136, height: 104, log2CodingTreeBlock: 4, log2MaxTransformBlock: 4)
        encoding.structure = .forward
        encoding.references = 2
        encoding.temporalMotion = true
        encoding.hasSAO = true
        encoding.frames = 10
        let last = isRows ? encoding.grid.rows : encoding.grid.columns
        encoding.configurePicture = { poc, job in
            guard poc > 1, 2 * (poc - 2) < last else { return }
            let range = 2 * (poc - 2)..<min(2 * (poc - 1), last)
            job.intraRefresh = isRows ? .rows(range) : .columns(range)
        }
        check(encoding)
        let outcome = encoding.run()
        var other = encoding
        other.hasNoise = true
        let stranger = other.run()
        let stream = outcome.parameterSets + stranger.pictures[0] + outcome.pictures[1...].joined()
        let decoded = ForeignDecoder.libavcodec.decode(stream, codec: .hevc)
        #expect(decoded.frames.count == 10)
        let complete = 1 + (last + 1) / 2
        for (index, frame) in decoded.frames.enumerated() {
            let difference = outcome.reconstructions[index].difference(from: frame, blockSize: 16)
            if index > complete { #expect(difference == nil) }
            if index < complete { #expect(difference != nil) }
        }
    }

    /// All intra tools are chosen at random.
    @Test(arguments: 0..<60) func randomIntraPicturesDecode(seed: Int) {
        check(drawn(seed, structure: .intra))
    }

    @Test(arguments: 0..<60) func randomForwardPicturesDecode(seed: Int) {
        check(drawn(1000 + seed, structure: seed % 2 == 0 ? .forward : .generalized))
    }

    @Test(arguments: 0..<60) func randomBidirectionalPicturesDecode(seed: Int) {
        check(drawn(2000 + seed, structure: seed % 2 == 0 ? .bidirectional : .pyramid))
    }

    @Test(arguments: 1...7) func searchedMotionDecodes(quality: Int) {
        for structure in [HEVCEncoding.Structure.forward, .generalized, .pyramid] {
            var encoding = HEVCEncoding()
            encoding.grid = HEVCGrid(width: 72, height: 72)
            encoding.quality = quality
            encoding.bitDepth = quality % 2 == 0 ? 10 : 8
            encoding.structure = structure
            encoding.frames = 6
            encoding.references = 2
            encoding.temporalMotion = true
            encoding.hasSAO = true
            encoding.configure = { job in
                job.amp_enabled_flag = true
                job.max_transform_hierarchy_depth_inter = 1
                job.max_transform_hierarchy_depth_intra = 1
                job.sign_data_hiding_enabled_flag = quality % 3 == 0
                job.constrained_intra_pred_flag = quality % 3 == 1
                job.strong_intra_smoothing_enabled_flag = true
                job.hasTransformSkip = quality % 3 == 2
                job.choosesLevels = quality == 7 ? true : nil
            }
            check(encoding)
        }
    }

    /// Returns a sequence of random sizes, tools and choices.
    private func drawn(_ seed: Int, structure: HEVCEncoding.Structure) -> HEVCEncoding {
        var generator = SplitMix64(state: UInt64(seed))
        func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func flip() -> Bool { Bool.random(using: &generator) }
        var encoding = HEVCEncoding()
        let tree = draw(4...6)
        let unit = draw(3...tree)
        let smallest = draw(2...min(unit - 1, 5))
        let largest = draw(smallest...min(tree, 5))
        let side = 1 << unit
        encoding.grid = HEVCGrid(
            width: max(2, draw(16...200) / side) * side, height: max(2, draw(16...136) / side) * side,
            log2MinCodingBlock: unit, log2CodingTreeBlock: tree, log2MinTransformBlock: smallest,
            log2MaxTransformBlock: largest)
        encoding.bitDepth = flip() ? 8 : 10
        encoding.structure = structure
        encoding.frames = structure == .intra ? 1 : draw(3...7)
        encoding.qp = draw(0...51)
        encoding.qpStep = draw(-2...2)
        encoding.hasNoise = draw(0...3) == 0
        encoding.references = draw(1...4)
        encoding.hasLongTerm = draw(0...3) == 0
        encoding.temporalMotion = flip()
        encoding.hasSAO = flip()
        if flip() { encoding.sliceLength = draw(1...max(1, encoding.grid.codingTrees)) }
        if draw(0...2) == 0 {
            encoding.tileColumns = draw(1...3)
            encoding.tileRows = draw(1...3)
        }
        let depths = (draw(0...(tree - smallest)), draw(0...(tree - smallest)))
        let flags = (0..<8).map { _ in flip() }
        let groupDepth = flip() ? draw(0...(tree - unit)) : nil
        let mergeLevel = draw(2...min(tree, 5))
        let offsets = (draw(-12...12), draw(-12...12), draw(-6...6), draw(-6...6), draw(-6...6), draw(-6...6))
        let areas = (0..<encoding.grid.areaColumns * encoding.grid.areaRows).map { _ in Int8(draw(0...51)) }
        let hasAreas = flip()
        let isCut = encoding.hasSAO && (encoding.sliceLength > 0 || encoding.tileColumns * encoding.tileRows > 1)
        encoding.configure = { job in
            job.max_transform_hierarchy_depth_inter = depths.0
            job.max_transform_hierarchy_depth_intra = depths.1
            job.amp_enabled_flag = flags[0]
            job.strong_intra_smoothing_enabled_flag = flags[1]
            job.constrained_intra_pred_flag = flags[2] && (unit == 3 || !isCut)
            job.hasTransformSkip = flags[3]
            job.sign_data_hiding_enabled_flag = flags[4]
            job.loop_filter_across_tiles_enabled_flag = flags[5]
            job.qpDeltaDepth = groupDepth
            job.log2_parallel_merge_level = mergeLevel
            job.cbQPOffset = offsets.2
            job.crQPOffset = offsets.3
            if hasAreas && groupDepth != nil { job.areaQPs = areas }
        }
        let slices = (draw(1...5), flip(), flip(), flip(), draw(0...3) == 0)
        encoding.configureSlice = { slice in
            slice.cbQPOffset += offsets.4
            slice.crQPOffset += offsets.5
            slice.mergeCandidates = slices.0
            slice.mvd_l1_zero_flag = slices.1
            slice.cabac_init_flag = slices.2
            slice.slice_loop_filter_across_slices_enabled_flag = slices.3
            slice.slice_deblocking_filter_disabled_flag = slices.4
            if !slices.4 {
                slice.betaOffset = offsets.0 / 2 * 2
                slice.tcOffset = offsets.1 / 2 * 2
            }
        }
        encoding.chooser = HEVCEncodeChooser(seed: UInt64(seed) &+ 99)
        return encoding
    }

    /// Expects both decoders' pictures to be the reconstruction, except where they are known to differ from each other.
    /// libavcodec searches inter units in steps of half the smallest coding block, so constrained intra prediction is
    /// correct only with coding blocks of 8×8. With coding tree blocks of 16×16, it differs in single chroma samples of
    /// SAO at borders of slices and tiles. If filters may not cross such borders, libde265's SAO crosses them in
    /// chroma.
    private func check(_ encoding: HEVCEncoding, _ sourceLocation: SourceLocation = #_sourceLocation) {
        let outcome = encoding.run()
        for decoder in ForeignDecoder.all(for: .hevc) {
            if decoder == .libavcodec && encoding.constrainsLargeUnits { continue }
            let isLumaAlone =
                decoder == .libde265
                ? encoding.hasSAOAtBorders
                : encoding.hasSAO && encoding.hasParts && encoding.grid.log2CodingTreeBlock == 4
            let fault = outcome.fault(decoder, blockSize: encoding.grid.codingTreeSize, isLumaAlone: isLumaAlone)
            #expect(fault == nil, "\(encoding.summary)", sourceLocation: sourceLocation)
        }
    }
}
