/// One transform block to code.
struct HEVCBlockTask<Sample: HEVCSample> {
    let component: HEVCComponent
    let source: ElementPointer<Sample>
    let sourceStride: Int
    /// The predicted samples; equal to `target` if `isInPlace` is true.
    let prediction: ElementPointer<Sample>
    let predictionStride: Int
    let target: ElementPointer<Sample>
    let targetStride: Int
    let levels: ElementPointer<Int16>
    let log2Size: Int
    let isSine: Bool
    let isIntra: Bool
    let scan: Int

    /// Whether the prediction was written to the block's position in the reconstruction, as for intra blocks.
    var isInPlace: Bool { isIntra }
}

struct HEVCCodedBlock: BitwiseCopyable {
    var cost = 0
    var hasLevels = false
    /// transform_skip_flag.
    var skips = false
}

extension HEVCUnitCoder {
    /// Transforms and quantizes the residual, and reconstructs the block. Keeps the levels only if they are cheaper
    /// than no levels.
    mutating func codeBlock(_ block: HEVCBlockTask<Sample>, depth: Int) -> HEVCCodedBlock {
        let size = 1 &<< block.log2Size
        if let chooser {
            loadResidual(block)
            return codeChosenBlock(block, chooser)
        }
        let known = depth == 0 ? plainErrors?[block.component.rawValue] : nil
        let plainError =
            known
            ?? HEVCBlock.squares(
                block.source, block.sourceStride, block.prediction, block.predictionStride, width: size, height: size)
        var count = counter
        codeFlag(&count, block, depth, false)
        let plainCost = (plainError &<< 8) &+ weighed(count.cost)
        let rounding =
            preset.choosesLevels ? 128 : block.isIntra ? HEVCQuantizer.intraRounding : HEVCQuantizer.interRounding
        let quantizer = quantizer(block.component)
        if quantizer.leavesNothing(
            plainError / preset.spread, log2Size: block.log2Size, rounding: rounding)
        {
            reconstructWithoutLevels(block, wasReconstructed: false)
            return HEVCCodedBlock(cost: plainCost)
        }
        loadResidual(block)
        let isLowPass = preset.lowPassQP.map { quantizer.qp >= $0 &+ qpOffset } ?? false
        transform.forward(
            residual, stride: size, log2Size: block.log2Size, isSine: block.isSine, isLowPass: isLowPass,
            to: coefficients)
        var quantized = quantizer.quantize(
            coefficients, log2Size: block.log2Size, rounding: rounding, isLowPass: isLowPass, to: block.levels)
        if preset.choosesLevels && quantized.count > 0 { quantized = chooseLevels(block) }
        if preset.thinsLevels && !preset.choosesLevels && block.log2Size > 2 && quantized.count > 0 {
            thinLevels(block, &quantized)
        }
        if sign_data_hiding_enabled_flag && quantized.count > 1 {
            hideSigns(block)
            quantized.extent = extent(block)
        }
        if quantized.count > 0 {
            reconstruct(block, quantized.extent, skips: false)
            let error = HEVCBlock.squares(
                block.source, block.sourceStride, block.target, block.targetStride, width: size, height: size)
            count = counter
            codeFlag(&count, block, depth, true)
            let cost = (error &<< 8) &+ weighed(count.cost &+ residualBits(block))
            if cost < plainCost { return HEVCCodedBlock(cost: cost, hasLevels: true) }
        }
        reconstructWithoutLevels(block, wasReconstructed: quantized.count > 0)
        return HEVCCodedBlock(cost: plainCost)
    }

    @inline(__always) private func loadResidual(_ block: HEVCBlockTask<Sample>) {
        let size = 1 &<< block.log2Size
        HEVCBlock.residual(
            block.source, block.sourceStride, minus: block.prediction, block.predictionStride, width: size,
            height: size, to: residual, size)
    }

    @inline(never) private func residualBits(_ block: HEVCBlockTask<Sample>) -> Int {
        var count = counter
        residualCoder.code(
            HEVCResidualBlock(
                levels: block.levels, log2Size: block.log2Size, isChroma: block.component != .luma, scan: block.scan,
                sign_data_hiding_enabled_flag: sign_data_hiding_enabled_flag), &count)
        return count.cost
    }

    /// Makes the prediction the block's reconstruction. If the reconstruction has overwritten a prediction in place,
    /// the prediction is restored as source minus residual.
    func reconstructWithoutLevels(_ block: HEVCBlockTask<Sample>, wasReconstructed: Bool) {
        let size = 1 &<< block.log2Size
        if !block.isInPlace {
            HEVCBlock.copy(
                block.prediction, block.predictionStride, width: size, height: size, to: block.target,
                block.targetStride)
        } else if wasReconstructed {
            var y = 0
            while y < size {
                let s = block.source + y &* block.sourceStride
                let t = block.target + y &* block.targetStride
                let r = residual + y &* size
                var x = 0
                while x < size {
                    t.storeFourWords(
                        x, s.fourWords(x) &- Words(lowHalf: r.load(x, as: SIMD4<Int16>.self), highHalf: .zero))
                    x &+= 4
                }
                y &+= 1
            }
        }
    }

    @inline(__always) private func codeFlag(
        _ count: inout HEVCBinCount, _ block: HEVCBlockTask<Sample>, _ depth: Int, _ flag: Bool
    ) {
        if block.component == .luma {
            count.codeLumaFlag(flag, depth: depth)
        } else {
            count.codeChromaFlag(flag, depth: depth)
        }
    }

    @inline(__always) func quantizer(_ component: HEVCComponent) -> HEVCQuantizer {
        switch component {
        case .luma: lumaQuantizer
        case .cb: cbQuantizer
        case .cr: crQuantizer
        }
    }

    /// Reconstructs a block's samples from prediction and levels.
    func reconstruct(_ block: HEVCBlockTask<Sample>, _ extent: HEVCExtent, skips: Bool) {
        let size = 1 &<< block.log2Size
        quantizer(block.component).scale(block.levels, log2Size: block.log2Size, extent: extent, to: scaled)
        if skips {
            transform.inverseSkip(scaled, log2Size: block.log2Size, to: coefficients, stride: size)
        } else {
            transform.inverse(
                scaled, log2Size: block.log2Size, isSine: block.isSine, extent: extent, to: coefficients, stride: size)
        }
        HEVCBlock.add(
            coefficients, size, to: block.prediction, block.predictionStride, width: size, height: size,
            into: block.target, block.targetStride)
    }
}
