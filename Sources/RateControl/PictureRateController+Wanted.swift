internal import Glibc
import VideoBase

extension PictureRateController {
    /// The QP of P pictures at which the rate comes out, before limits.
    func wantedQP(_ picture: RatePicture) -> Double {
        let wanted = steady.qp(now: equalQP(picture), slope: Self.slope) + correction
        switch targets.aim {
        case .constant: return min(wanted, fillingQP(picture))
        case .variable: return wanted
        case .quality(let qp): return max(wanted, Double(qp))
        }
    }

    /// The QP at which the picture takes what the buffer has no room for: rather better pictures than filler.
    private func fillingQP(_ picture: RatePicture) -> Double {
        let excess = Double(buffer.fullness) + targets.bitsPerFrame - 0.95 * Double(targets.bufferSize)
        guard excess > 0 else { return .infinity }
        let offset = offsets[picture.kind]
        return solve { model.bits(picture.kind, qp: $0 + offset) <= excess }
    }

    /// By which the QP of pictures other than intra ones moves their bits.
    static var slope: Double { BitModel.slope(1) }

    /// The QP of P pictures at which this scene takes the mean rate.
    func equalQP(_ picture: RatePicture) -> Double {
        let perPicture = targets.bitsPerFrame
        if picture.isIntra {
            // The picture and those that pay for it.
            let horizon = max(Int(targets.framesPerSecond * (targets.isConstant ? 2 : 5)), 1)
            let count = min(max(picture.distanceToIntra ?? horizon, 1), horizon)
            let total = perPicture * Double(count)
            return solve { qp in
                model.bits(BitModel.Kind.intra, qp: qp + offsets[0])
                    + model.meanBits(qp: qp, offsets: offsets) * Double(count - 1) <= total
            }
        }
        let target = min(max(perPicture - debt / Double(repayment), perPicture * 0.15), perPicture * 3)
        return solve { model.meanBits(qp: $0, offsets: offsets) <= target }
    }

    /// What makes good for bits that were spent wrongly.
    private var correction: Double {
        let perPicture = targets.bitsPerFrame
        let share = min(max(1 - unplanned() / Double(correctionTime) / perPicture, 0.4), 2.5)
        return -6 / Self.slope * log2(share)
    }

    /// Pictures over which what was spent wrongly is made good.
    private var correctionTime: Int {
        let second = targets.framesPerSecond
        guard targets.isConstant else { return max(Int(second * 2), 4) }
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
        guard let baseQP, !mayJump else { return wanted }
        let step = picture.isIntra ? 4.0 : targets.isConstant ? 2.0 : 1.5
        return min(max(wanted, baseQP - step), baseQP + 4)
    }

    /// Comes down in steps after a picture that the largest picture kept coarse.
    mutating func boundedStep(_ wanted: Double, _ picture: RatePicture) -> Double {
        let isB = picture.type == .b
        guard let last = bounded[isB] else { return wanted }
        let lowest = last.qp - last.step
        if wanted >= lowest { bounded[isB] = nil }
        return max(wanted, lowest)
    }
}
