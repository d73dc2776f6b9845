/// Makes HEVC slices with minimal data (VAENC_REFERENCE_MODE=null). P and B slices consist of skipped coding units. I
/// slices use DC prediction without a residual.
enum HEVCNullSlices {
    /// Returns the NAL unit of each slice.
    static func units(
        for slices: [HEVCSliceJob], _ sequence: HEVCSequenceParameterSet, _ picture: HEVCPictureParameterSet, _ tiles: HEVCTiles
    ) -> [[UInt8]] {
        let grid = sequence.grid
        let nothing = ElementStorage<UInt8>(count: 1, repeating: 0)
        var job = HEVCPictureJob(
            grid: grid,
            source: HEVCSource(
                luma: nothing.elements, chroma: nothing.elements, lumaPitch: 0, chromaPitch: 0, width: 0, height: 0),
            reconstruction: HEVCReconstructedPicture(
                grid: HEVCGrid(width: 8, height: 8), bitDepth: sequence.bit_depth_luma), poc: 0, slices: slices)
        job.tiles = tiles
        job.bitDepth = sequence.bit_depth_luma
        job.max_transform_hierarchy_depth_inter = sequence.max_transform_hierarchy_depth_inter
        job.max_transform_hierarchy_depth_intra = sequence.max_transform_hierarchy_depth_intra
        job.amp_enabled_flag = sequence.amp_enabled_flag
        job.hasTransformSkip = picture.transform_skip_enabled_flag
        job.sign_data_hiding_enabled_flag = picture.sign_data_hiding_enabled_flag
        job.qpDeltaDepth = picture.diff_cu_qp_delta_depth
        let writer = HEVCSliceWriter(grid)
        let tree = HEVCCodingTree()
        // The memory that the pointers refer to must outlive their use.
        return withExtendedLifetime((writer, tree, nothing)) {
            slices.map { slice in
                writer.begin(slice, job)
                let first = tiles.tileScan[slice.firstCodingTree]
                for tileScanIndex in first..<first + slice.codingTreeCount {
                    let address = tiles.rasterScan[tileScanIndex]
                    fill(tree, address, slice, grid)
                    writer.write(tree, address: address)
                }
                return writer.finish()
            }
        }
    }

    /// Fills a coding tree with the largest coding units that fit inside the picture.
    private static func fill(_ tree: HEVCCodingTree, _ address: Int, _ slice: HEVCSliceJob, _ grid: HEVCGrid) {
        tree.unitCount = 0
        tree.predictionCount = 0
        tree.nodeCount = 0
        tree.sao.elements[0] = HEVCSAOParameters()
        let shift = grid.log2CodingTreeBlock
        addUnits(
            tree, x: (address % grid.columns) << shift, y: (address / grid.columns) << shift, log2Size: shift, slice, grid)
    }

    private static func addUnits(
        _ tree: HEVCCodingTree, x: Int, y: Int, log2Size: Int, _ slice: HEVCSliceJob, _ grid: HEVCGrid
    ) {
        guard x < grid.width, y < grid.height else { return }
        let size = 1 << log2Size
        guard x + size <= grid.width, y + size <= grid.height else {
            for part in 0..<4 {
                addUnits(
                    tree, x: x + (part & 1) * size / 2, y: y + (part >> 1) * size / 2, log2Size: log2Size - 1, slice,
                    grid)
            }
            return
        }
        var unit = HEVCCodingUnit()
        unit.x = Int32(x)
        unit.y = Int32(y)
        unit.log2Size = UInt8(log2Size)
        unit.mode = slice.type == .i ? .intra : .skip
        unit.qp = Int8(slice.qp)
        unit.firstPrediction = UInt16(tree.predictionCount)
        unit.firstNode = UInt16(tree.nodeCount)
        tree.units.elements[tree.unitCount] = unit
        tree.unitCount += 1
        var prediction = HEVCPredictionUnit()
        // If all neighbors use DC or are not available, DC is the second of the most probable modes.
        prediction.mpmIndex = 1
        prediction.mergeIndex = 0
        tree.predictions.elements[tree.predictionCount] = prediction
        tree.predictionCount += 1
        if slice.type == .i { addNode(tree, log2Size: log2Size, grid) }
    }

    private static func addNode(_ tree: HEVCCodingTree, log2Size: Int, _ grid: HEVCGrid) {
        var node = HEVCTransformNode()
        node.isSplit = log2Size > grid.log2MaxTransformBlock
        tree.nodes.elements[tree.nodeCount] = node
        tree.nodeCount += 1
        if node.isSplit {
            for _ in 0..<4 { addNode(tree, log2Size: log2Size - 1, grid) }
        }
    }
}
