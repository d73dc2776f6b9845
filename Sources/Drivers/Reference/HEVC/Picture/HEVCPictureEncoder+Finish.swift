extension HEVCPictureEncoder {
    /// Finishes a row of coding tree units of the filtered picture: stores the motion that later pictures may use for
    /// temporal prediction, and repeats the border in the margins.
    func finish(_ job: HEVCPictureJob, _ slices: [HEVCSliceJob], row: Int) {
        guard job.isReference else { return }
        let tables = tables.tables
        let stored = job.reconstruction.motion.elements
        let rows = lumaRows(row)
        for areaRow in (rows.lowerBound >> 4)..<((rows.upperBound + 15) >> 4) {
            for column in 0..<grid.areaColumns {
                let (x, y) = (column << 4, areaRow << 4)
                let tree = (y >> grid.log2CodingTreeBlock) * grid.columns + x >> grid.log2CodingTreeBlock
                let slice = Int(tables.slice[tree])
                var area = HEVCStoredMotion()
                area.motion = tables.motion[(y >> 2) * grid.blockColumns + x >> 2]
                let reference0 = Int(area.motion.reference0)
                let reference1 = Int(area.motion.reference1)
                if reference0 >= 0 {
                    area.poc0 = Int32(truncatingIfNeeded: slices[slice].list0[reference0].poc)
                    area.isLongTerm0 = slices[slice].list0[reference0].isLongTerm
                }
                if reference1 >= 0 {
                    area.poc1 = Int32(truncatingIfNeeded: slices[slice].list1[reference1].poc)
                    area.isLongTerm1 = slices[slice].list1[reference1].isLongTerm
                }
                stored[areaRow * grid.areaColumns + column] = area
            }
        }
        HEVCBorder.extend(job.reconstruction.planes(Sample.self), rows: rows)
    }

    /// Returns the luma rows of a row of coding tree units, without those outside of the picture.
    func lumaRows(_ row: Int) -> Range<Int> {
        let first = row << grid.log2CodingTreeBlock
        return first..<min(first + grid.codingTreeSize, grid.height)
    }

    /// Applies sample adaptive offset to the deblocked picture.
    func filter(
        _ job: HEVCPictureJob, _ bounds: HEVCFilterBounds, _ slices: [HEVCSliceJob], _ original: HEVCPlanes<Sample>
    ) {
        let planes = job.reconstruction.planes(Sample.self)
        if let chooser {
            for address in trees.indices { trees[address].sao.elements[0] = chosenSAO(address, bounds, job.tiles, chooser) }
        } else {
            let qp = slices.map(\.qp).reduce(0, +) / slices.count + 6 * (Sample.bitDepth - 8)
            HEVCSAODecision(
                bounds: bounds, tiles: job.tiles, source: original, planes: planes,
                lambda: Double(HEVCLagrange.squareLambda(qp)) / 256
            ).run(trees)
        }
        HEVCSAOFilter(bounds: bounds, planes: planes, scratch: deblocked.planes()).run(trees)
    }

    private func chosenSAO(
        _ address: Int, _ bounds: HEVCFilterBounds, _ tiles: HEVCTiles, _ chooser: any HEVCChooser
    ) -> HEVCSAOParameters {
        let slice = bounds.slices[Int(bounds.slice[address])]
        var parameters = HEVCSAOParameters()
        for (isLeft, other) in [(true, address - 1), (false, address - grid.columns)] {
            guard isLeft ? address % grid.columns > 0 : other >= 0, bounds.slice[address] == bounds.slice[other],
                tiles.tileID[address] == tiles.tileID[other], slice.slice_sao_luma_flag || slice.slice_sao_chroma_flag,
                chooser.choose(.saoMerge, 3) == 1
            else { continue }
            parameters = trees[other].sao.elements[0]
            (parameters.mergesLeft, parameters.mergesUp) = (isLeft, !isLeft)
            return parameters
        }
        if slice.slice_sao_luma_flag { parameters.luma = chosenSAO(chooser, like: nil) }
        if slice.slice_sao_chroma_flag {
            parameters.cb = chosenSAO(chooser, like: nil)
            parameters.cr = chosenSAO(chooser, like: parameters.cb)
        }
        return parameters
    }

    private func chosenSAO(
        _ chooser: any HEVCChooser, like other: HEVCSAOParameters.Component?
    ) -> HEVCSAOParameters.Component {
        var component = HEVCSAOParameters.Component()
        let kinds = [HEVCSAOParameters.Kind.off, .band, .edge]
        component.kind = other?.kind ?? kinds[chooser.choose(.saoKind, 3)]
        if component.kind == .off { return component }
        for index in 0..<4 {
            let magnitude = chooser.choose(.saoOffset, 1 << (Sample.bitDepth - 5))
            let isNegative = component.kind == .edge ? index > 1 : chooser.choose(.saoOffset, 2) == 1
            component.offsets[index] = Int8(isNegative ? -magnitude : magnitude)
        }
        if component.kind == .band {
            component.band = UInt8(chooser.choose(.saoBand, 32))
        } else {
            component.edgeClass = other?.edgeClass ?? UInt8(chooser.choose(.saoClass, 4))
        }
        return component
    }
}
