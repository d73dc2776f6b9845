extension PictureRateController {
    /// The QP of P pictures at which the rate comes out, before limits.
    func wantedQP(_ picture: RatePicture) -> Double {
        if case .quality(let qp) = targets.aim { return Double(qp) }
        let perPicture = targets.bitsPerFrame
        let correction = unplanned() / Double(correctionTime)
        if picture.isIntra {
            // The picture and those that pay for it.
            let horizon = max(Int(targets.framesPerSecond * (targets.isConstant ? 2 : 5)), 1)
            let count = min(max(picture.distanceToIntra ?? horizon, 1), horizon)
            let total = max(perPicture * 0.2, perPicture - correction) * Double(count)
            return solve { qp in
                model.bits(BitModel.Kind.intra, qp: qp + offsets[0])
                    + model.meanBits(qp: qp, offsets: offsets) * Double(count - 1) <= total
            }
        }
        let owed = debt / Double(repayment)
        let target = min(max(perPicture - owed - correction, perPicture * 0.15), perPicture * 3)
        return solve { model.meanBits(qp: $0, offsets: offsets) <= target }
    }

    /// Pictures over which what was spent wrongly is made good.
    private var correctionTime: Int {
        let second = targets.framesPerSecond
        guard targets.isConstant else { return max(Int(second * 3), 4) }
        // Not longer than the buffer lasts.
        let buffer = Double(targets.bufferSize) / max(Double(targets.bitrate), 1)
        return max(Int(second * min(1, buffer / 2)), 2)
    }

    /// Bits spent over the target, without the debt.
    private func unplanned() -> Double {
        var underWay = 0.0
        for each in pending { underWay += each.expectedBits - targets.bitsPerFrame }
        if targets.isConstant { return setpoint - Double(buffer.fullness) + underWay - debt }
        return account + underWay - debt
    }

    /// The lowest QP, in eighths, that is enough.
    private func solve(_ isEnough: (Double) -> Bool) -> Double {
        // Offsets reach beyond the ends of the scale.
        var low = -12 * 8
        var high = 63 * 8
        while low < high {
            let middle = (low + high) >> 1
            if isEnough(Double(middle) / 8) { high = middle } else { low = middle + 1 }
        }
        return Double(low) / 8
    }

    /// Keeps the quality from jumping.
    func limitedStep(_ wanted: Double, _ picture: RatePicture) -> Double {
        guard let baseQP, !mayJump, targets.aim != .quality(qp: Int(wanted)) else { return wanted }
        let step = picture.isIntra ? 4.0 : targets.isConstant ? 2.0 : 1.5
        return min(max(wanted, baseQP - step), baseQP + step)
    }
}
