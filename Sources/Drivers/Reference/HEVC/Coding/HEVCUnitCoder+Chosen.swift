// Codes units with the decisions of a chooser, within what the syntax allows.

extension HEVCUnitCoder {
    mutating func codeChosen(_ x: Int, _ y: Int, log2Size: Int) {
        guard let chooser else { return }
        let size = 1 &<< log2Size
        beginGroup(x, y, log2Size: log2Size)
        let isCut = x &+ size > width || y &+ size > height
        if log2Size > grid.log2MinCodingBlock && (isCut || chooser.choose(.unitSplit, 2) == 1) {
            let half = size / 2
            for quarter in 0..<4 {
                let (left, top) = (x &+ (quarter & 1) &* half, y &+ (quarter >> 1) &* half)
                if left < width && top < height { codeChosen(left, top, log2Size: log2Size &- 1) }
            }
            return
        }
        let mode = type == .i || mustBeIntra ? 0 : chooser.choose(.mode, 3)
        if mode == 0 {
            codeChosenIntra(x, y, log2Size: log2Size, chooser)
        } else {
            codeChosenInter(x, y, log2Size: log2Size, isSkipped: mode == 1, chooser)
        }
    }

    private mutating func codeChosenIntra(_ x: Int, _ y: Int, log2Size: Int, _ chooser: any HEVCChooser) {
        var unit = newUnit(x, y, log2Size: log2Size, mode: .intra)
        if log2Size == grid.log2MinCodingBlock && log2Size > grid.log2MinTransformBlock
            && chooser.choose(.partition, 2) == 1
        {
            unit.partition = .partNxN
        }
        markIntra(unit)
        let first = predictionCount
        predictionCount &+= unit.partition.count
        for index in 0..<unit.partition.count {
            let part = HEVCPart(unit, index)
            let prediction = intraPrediction(chooser.choose(.intraMode, 35), probableModes(part.x, part.y))
            predictions[first &+ index] = prediction
            commitMotion(part, prediction, isIntra: true)
        }
        unit.chromaMode = UInt8(truncatingIfNeeded: chooser.choose(.chromaMode, 5))
        let coded = codeTransformTree(transformTask(unit, predictedBlock))
        commit(unit, hasLevels: coded.hasLevels)
    }

    /// Codes a block with the levels of the residual, other levels or none. A 4×4 block may use transform skip.
    mutating func codeChosenBlock(_ block: HEVCBlockTask<Sample>, _ chooser: any HEVCChooser) -> HEVCCodedBlock {
        let size = 1 &<< block.log2Size
        let choice = chooser.choose(.levels, 4)
        var result = HEVCCodedBlock()
        result.skips = hasTransformSkip && block.log2Size == 2 && chooser.choose(.transformSkip, 2) == 1
        if result.skips {
            transform.forwardSkip(residual, stride: size, log2Size: block.log2Size, to: coefficients)
        } else {
            transform.forward(residual, stride: size, log2Size: block.log2Size, isSine: block.isSine, to: coefficients)
        }
        if choice == 0 {
            reconstructWithoutLevels(block, wasReconstructed: false)
            return HEVCCodedBlock()
        }
        _ = quantizer(block.component).quantize(
            coefficients, log2Size: block.log2Size, rounding: 85, to: block.levels)
        if choice == 3 {
            // Replace the levels: few or many, small or large ones.
            let many = chooser.choose(.levels, 6)
            let large = [2, 3, 16, 300, 65535][chooser.choose(.levels, 5)]
            for i in 0..<size &* size {
                let isSet = chooser.choose(.levels, 1 &<< (2 &* many)) == 0
                block.levels[i] = isSet ? Int16(truncatingIfNeeded: chooser.choose(.levels, large) &- large / 2) : 0
            }
        }
        if sign_data_hiding_enabled_flag { hideSigns(block) }
        let extent = extent(block)
        result.hasLevels = extent.columns > 0
        if result.hasLevels { reconstruct(block, extent, skips: result.skips) } else { result.skips = false }
        if !result.hasLevels { reconstructWithoutLevels(block, wasReconstructed: false) }
        return result
    }
}
