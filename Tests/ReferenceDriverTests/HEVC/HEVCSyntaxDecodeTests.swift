import ReferenceDriver
import TestOracles
import Testing

/// Foreign decoders judge random HEVC syntax.
///
/// The same coding trees are coded in several ways: intra units in I, P and B slices, and inter units with and without
/// cabac_init_flag. The values are the same, so the pictures must be the same. But contexts start differently in each
/// way, and I slices lack flags. So if one bin is coded wrongly, decoders turn the rest of its slice into different
/// data in each way.
@Suite struct HEVCSyntaxDecodeTests {
    /// Returns headers whose settings all differ between seeds.
    static func headers(_ seed: Int) -> HEVCSyntaxHeaders {
        var generator = SplitMix64(state: UInt64(seed) &* 77 &+ 5)
        func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &generator)! }
        let tree = [4, 5, 6][seed % 3]
        let smallest = pick(Array(3...tree))
        let minTransform = pick(Array(2...min(smallest - 1, 5)))
        let maxTransform = pick(Array(minTransform...min(tree, 5)))
        let (width, height) = pick([(20, 20), (64, 64), (200, 136), (72, 40), (136, 24), (130, 100), (16, 72)])
        let unit = 1 << smallest
        let grid = HEVCGrid(
            width: (width + unit - 1) / unit * unit, height: (height + unit - 1) / unit * unit,
            log2MinCodingBlock: smallest, log2CodingTreeBlock: tree, log2MinTransformBlock: minTransform,
            log2MaxTransformBlock: maxTransform)
        func bounds(_ count: Int) -> [Int] {
            var bounds = [0]
            for bound in 1..<max(count, 1) where pick([false, false, true]) { bounds.append(bound) }
            return bounds + [count]
        }
        let hasTiles = seed % 4 == 3
        var headers = HEVCSyntaxHeaders(
            grid: grid,
            tiles: hasTiles
                ? HEVCTiles(columnBounds: bounds(grid.columns), rowBounds: bounds(grid.rows)) : HEVCTiles(grid))
        headers.bitDepth = pick([8, 10])
        headers.max_transform_hierarchy_depth_inter = pick(Array(0...(tree - minTransform)))
        headers.max_transform_hierarchy_depth_intra = pick(Array(0...(tree - minTransform)))
        headers.amp_enabled_flag = pick([false, true])
        headers.hasSAO = pick([false, true])
        headers.temporalMotion = pick([false, true])
        headers.strong_intra_smoothing_enabled_flag = pick([false, true])
        headers.hasTransformSkip = pick([false, true])
        headers.sign_data_hiding_enabled_flag = pick([false, true])
        headers.qpDeltaDepth = pick([nil] + Array(0...(tree - smallest)))
        headers.log2_parallel_merge_level = pick(Array(2...tree))
        headers.hasHeaderExtension = pick([false, true])
        headers.cbQPOffset = pick([0, -12, 7, 12])
        headers.crQPOffset = pick([0, -3, 12])
        return headers
    }

    @Test(arguments: 0..<60) func everyWayDecodesToTheSamePictures(_ seed: Int) {
        let headers = Self.headers(seed)
        let contents: [HEVCRandomTrees.Content] = [.intra, .forward, .bipredictive, .intra, .bipredictive]
        let random = HEVCRandomStream(headers, seed: UInt64(seed), contents: contents)
        let streams = (0..<5).map { random.stream(variant: $0) }
        var first: [ForeignDecoder: [PlanarFrame]] = [:]
        for decoder in ForeignDecoder.all(for: .hevc) {
            for (variant, stream) in streams.enumerated() {
                let decoded = decoder.decode(stream, codec: .hevc)
                #expect(
                    decoded.messages.isEmpty,
                    "\(decoder), variant \(variant), \(headers.grid): \(decoded.messages.prefix(3))")
                #expect(decoded.frames.count == 1 + contents.count)
                let expected = first[decoder] ?? decoded.frames
                first[decoder] = expected
                let wrong = zip(decoded.frames, expected).enumerated().first { $1.0 != $1.1 }?.offset
                #expect(wrong == nil, "\(decoder), variant \(variant), \(headers.grid)")
            }
        }
        // With 8 bits and coding tree blocks of 16, libavcodec and libde265 disagree on SAO in corners.
        if !headers.hasSAO {
            let agree = first[.libavcodec] == first[.libde265]
            #expect(agree, "\(headers.grid)")
        }
    }
}
