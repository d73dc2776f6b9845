// The luma predictions that the search has computed, so that it interpolates no vector twice.

/// The predictions of one part from one reference with fractional vectors.
struct HEVCLumaTrials: BitwiseCopyable {
    static let slots = 16

    /// The part's position and size.
    var part = SIMD4<Int32>(repeating: -1)
    /// The reference and the vector of each slot, and the cost of the prediction: SAD or SATD.
    var keys = SIMD16<Int>(repeating: -1)
    var differences = SIMD16<Int>(repeating: 0)
    var next = 0
    /// The rows that were filtered horizontally last: their reference, column and fraction, and the row of the block
    /// that begins with the fifth of them.
    var rowsKey = -1
    var row = 0

    /// Forgets the predictions if they are those of another part.
    @inline(__always) mutating func begin(_ part: HEVCPart) {
        let rectangle = SIMD4(
            Int32(truncatingIfNeeded: part.x), Int32(truncatingIfNeeded: part.y), Int32(truncatingIfNeeded: part.width),
            Int32(truncatingIfNeeded: part.height))
        if rectangle == self.part { return }
        self.part = rectangle
        keys = SIMD16(repeating: -1)
        rowsKey = -1
    }
}

extension HEVCUnitCoder {
    @inline(__always) private static func key(_ list: Int, _ reference: Int, _ vector: MotionVector) -> Int {
        (list &* HEVCMotionReferences.perList &+ reference) &<< 32
            | Int(UInt16(bitPattern: vector.x)) &<< 16 | Int(UInt16(bitPattern: vector.y))
    }

    @inline(__always) private func samples(_ slot: Int) -> ElementPointer<Sample> {
        scratch.lumaTrialSamples.elements + slot &* HEVCScratch<Sample>.lumaSamples
    }

    @inline(__always) private func slot(_ key: Int) -> Int? {
        let trials = scratch.lumaTrials.elements
        for slot in 0..<HEVCLumaTrials.slots where trials[0].keys[slot] == key { return slot }
        return nil
    }

    /// Returns the SAD or SATD of the prediction of a part from one reference.
    @inline(never) func difference(_ part: HEVCPart, list: Int, reference: Int, _ vector: MotionVector) -> Int {
        let planes = planes(list, reference)
        if (vector.x | vector.y) & 3 == 0 {
            return difference(
                part, planes.luma + HEVCInterpolation.lumaOffset(planes, part.x, part.y, vector), planes.stride)
        }
        let trials = scratch.lumaTrials.elements
        trials[0].begin(part)
        let key = Self.key(list, reference, vector)
        if let slot = slot(key) { return trials[0].differences[slot] }
        let slot = trials[0].next
        trials[0].next = (slot &+ 1) & (HEVCLumaTrials.slots &- 1)
        let samples = samples(slot)
        interpolate(part, list: list, reference: reference, vector, to: samples)
        let difference = difference(part, samples, HEVCScratch<Sample>.stride)
        trials[0].keys[slot] = key
        trials[0].differences[slot] = difference
        return difference
    }

    @inline(__always) func difference(
        _ part: HEVCPart, _ block: ElementPointer<Sample>, _ stride: Int
    ) -> Int {
        let original = source.luma + (part.y &* source.stride &+ part.x)
        return preset.hadamard
            ? HEVCBlockCost.satd(original, source.stride, block, stride, width: part.width, height: part.height)
            : HEVCBlockCost.sad(original, source.stride, block, stride, width: part.width, height: part.height)
    }

    /// Predicts with a fractional vector. Vectors that differ by less than a sample vertically, and not horizontally,
    /// share the rows that are filtered horizontally.
    private func interpolate(
        _ part: HEVCPart, list: Int, reference: Int, _ vector: MotionVector, to samples: ElementPointer<Sample>
    ) {
        let planes = planes(list, reference)
        let stride = HEVCScratch<Sample>.stride
        let (fractionX, fractionY) = (Int(vector.x & 3), Int(vector.y & 3))
        if Sample.bitDepth > 8 || part.width & 7 != 0 || fractionX == 0 || fractionY == 0 {
            HEVCInterpolation.lumaSamples(
                planes, x: part.x, y: part.y, vector, width: part.width, height: part.height, wide: wide, to: samples,
                stride)
            return
        }
        let trials = scratch.lumaTrials.elements
        let column = HEVCInterpolation.lumaColumn(planes, part.x, vector)
        let row = HEVCInterpolation.lumaRow(planes, part.y, vector)
        let key = (list &* HEVCMotionReferences.perList &+ reference) &<< 32 | (column &+ 1024) &<< 2 | fractionX
        let rows = scratch.lumaTrialRows.elements
        if trials[0].rowsKey != key || abs(trials[0].row &- row) > 1 {
            trials[0].rowsKey = key
            trials[0].row = row
            HEVCInterpolation.filterAlong(
                planes.luma + ((row &- 4) &* planes.stride &+ column), fromStride: planes.stride,
                taps: HEVCInterpolationTaps.shared.luma(fractionX), width: part.width, height: part.height &+ 9,
                block: rows)
        }
        HEVCInterpolation.filterRows(
            rows + (row &- trials[0].row &+ 1) &* HEVCInterpolation<Sample>.stride,
            HEVCInterpolationTaps.shared.luma(fractionY), width: part.width, height: part.height, to: samples, stride)
    }

    /// Copies the prediction of a part with `motion` if the search has computed it. Returns false otherwise.
    func copyTrial(_ part: HEVCPart, _ motion: HEVCMotion, to target: ElementPointer<Sample>, _ stride: Int) -> Bool {
        let trials = scratch.lumaTrials.elements
        trials[0].begin(part)
        let list = motion.reference0 >= 0 ? 0 : 1
        guard !motion.usesBoth, let slot = slot(Self.key(list, motion.reference(list), motion.vector(list))) else {
            return false
        }
        HEVCBlock.copy(
            samples(slot), HEVCScratch<Sample>.stride, width: part.width, height: part.height, to: target, stride)
        return true
    }
}
