internal import Glibc
import VideoBase

extension PictureRateController {
    /// Returns the QP of P pictures that meets the target rate, before limits are applied.
    func wantedQP(_ picture: RatePicture) -> Double {
        let wanted = steady.qp(now: equalQP(picture), slope: Self.slope) + correction
        switch targets.aim {
        case .constant: return min(wanted, fillingQP(picture))
        case .variable: return wanted
        case .quality(let qp): return max(wanted, Double(qp))
        }
    }

    /// Returns the QP at which the picture uses the bits that would overflow the buffer. Better pictures are preferred
    /// to filler. Returns infinity if the buffer does not overflow.
    private func fillingQP(_ picture: RatePicture) -> Double {
        let excess = Double(buffer.fullness) + targets.bitsPerFrame - 0.95 * Double(targets.bufferSize)
        guard excess > 0 else { return .infinity }
        let offset = offsets[picture.kind]
        return solve { model.bits(picture.kind, qp: $0 + offset) <= excess }
    }

    /// The halvings of the bits by six steps of QP, for pictures that are not intra.
    static var slope: Double { BitModel.slope(1) }

    /// Returns the QP of P pictures at which this scene takes the mean rate.
    func equalQP(_ picture: RatePicture) -> Double {
        let perPicture = targets.bitsPerFrame
        if picture.isIntra {
            // Count the intra picture together with the pictures that pay its debt back.
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

    /// The QP change that compensates for bits that were spent outside the plan.
    private var correction: Double {
        let perPicture = targets.bitsPerFrame
        let share = min(max(1 - unplanned() / Double(correctionTime) / perPicture, 0.4), 2.5)
        return -6 / Self.slope * log2(share)
    }

    /// The number of pictures over which a deviation from the plan is corrected.
    private var correctionTime: Int {
        let second = targets.framesPerSecond
        guard targets.isConstant else { return max(Int(second * 2), 4) }
        // A constant rate must be corrected before the buffer is empty or full.
        let buffer = Double(targets.bufferSize) / max(Double(targets.bitrate), 1)
        return max(Int(second * min(1, buffer / 2)), 2)
    }

    /// Returns the bits spent over the target, without the debt. Pictures in flight count with their expected bits.
    private func unplanned() -> Double {
        var excessInFlight = 0.0
        for each in pending { excessInFlight += each.expectedBits - targets.bitsPerFrame }
        if targets.isConstant { return setpoint - Double(buffer.fullness) + excessInFlight - debt }
        return account + excessInFlight - debt
    }

    /// Returns the lowest QP, in steps of 1/8, for which `isEnough` returns `true`.
    private func solve(_ isEnough: (Double) -> Bool) -> Double {
        // Offsets extend beyond both ends of the QP range.
        var low = -12 * 8
        var high = 63 * 8
        while low < high {
            let middle = (low + high) >> 1
            if isEnough(Double(middle) / 8) { high = middle } else { low = middle + 1 }
        }
        return Double(low) / 8
    }

    /// Limits the step from the last base QP, so that the quality does not jump.
    func limitedStep(_ wanted: Double, _ picture: RatePicture) -> Double {
        guard let baseQP, !mayJump else { return wanted }
        let step = picture.isIntra ? 4.0 : targets.isConstant ? 2.0 : 1.5
        return min(max(wanted, baseQP - step), baseQP + 4)
    }

    /// Lowers the QP in steps after a picture that `maxPictureBits` kept coarse.
    mutating func boundedStep(_ wanted: Double, _ picture: RatePicture) -> Double {
        let isB = picture.type == .b
        guard let last = bounded[isB] else { return wanted }
        let lowest = last.qp - last.step
        if wanted >= lowest { bounded[isB] = nil }
        return max(wanted, lowest)
    }
}
