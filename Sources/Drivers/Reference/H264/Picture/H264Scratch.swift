/// Temporary memory for coding one macroblock, allocated once for each thread of an encoder.
package final class H264Scratch: Sendable {
    /// Bytes between rows of the source macroblock: luma 16×16, then 8 rows of Cb (left half) and Cr (right half).
    package static let sourceStride = 16
    static let sourceChroma = 256
    /// Bytes between rows of a work block.
    package static let workStride = 32
    /// The index of sample (0, 0) of a work block's luma, Cb and Cr. The block's memory includes the row above, the
    /// column to the left and, for luma, 8 samples above right.
    static let workLuma = 40
    static let workCb = 18 * 32 + 8
    static let workCr = 18 * 32 + 24
    static let workBytes = 26 * 32 + 64
    static let candidates = 6

    let source = ElementStorage<UInt8>(count: 24 * 16 + 64, repeating: 0)
    let work = ElementStorage<UInt8>(count: H264Scratch.workBytes * H264Scratch.candidates, repeating: 0)
    let levels = ElementStorage<Int16>(count: MacroblockLevels.count * H264Scratch.candidates, repeating: 0)
    let counts = ElementStorage<UInt8>(count: 32 * H264Scratch.candidates, repeating: 0)
    let modes = ElementStorage<Int8>(count: 32 * H264Scratch.candidates, repeating: 0)
    let coefficients = ElementStorage<Int16>(count: 512, repeating: 0)
    /// Temporary blocks for trials, with rows `workStride` apart.
    let trial = ElementStorage<UInt8>(count: 24 * 32 + 64, repeating: 0)
    let edges = ElementStorage<UInt8>(count: IntraEdges.byteCount * 2, repeating: 0)
    let rows = ElementStorage<UInt8>(count: 128, repeating: 0)
    /// The motion caches of both lists, with `motionCacheCount` entries each.
    let motion = ElementStorage<MotionVector>(count: 2 * H264Scratch.motionCacheCount, repeating: .zero)
    let references = ElementStorage<Int8>(count: 2 * H264Scratch.motionCacheCount, repeating: -2)
    static let motionCacheCount = 64
    /// Blocks for bi-prediction of `pairBytes` bytes each, with rows `workStride` apart.
    let pairs = ElementStorage<UInt8>(count: 4 * H264Scratch.pairBytes + 64, repeating: 0)
    static let pairBytes = 16 * H264Scratch.workStride
    let scan8x8 = ElementStorage<UInt8>(count: 64, repeating: 0)
    let scan4x4 = ElementStorage<UInt8>(count: 16, repeating: 0)
    let levelChances = ElementStorage<UInt16>(count: LevelModel.contextCount, repeating: 0)
    let levelCosts = ElementStorage<UInt16>(count: 256, repeating: 0)
    let sizes = ElementStorage<Int32>(count: 64, repeating: 0)
    let choices = ElementStorage<Int32>(count: 64, repeating: 0)
    let choiceCosts = ElementStorage<Int>(count: 64, repeating: 0)
    /// The bits of one component of a motion vector difference by its magnitude, in sixteenths.
    let motionBits = ElementStorage<UInt16>(count: H264Scratch.motionBitCount, repeating: 0)
    static let motionBitCount = 20000

    var levelModel: LevelModel { LevelModel(chances: levelChances.elements, costs: levelCosts.elements) }

    init() {
        for i in 0..<16 { scan4x4.elements[i] = UInt8(Scan.positions4x4[i]) }
        levelModel.reset()
        for i in 0..<64 { scan8x8.elements[i] = UInt8(Scan.positions8x8[i]) }
        for i in 0..<Self.motionBitCount {
            // The length of an Exp-Golomb code, smoothed to approximate arithmetic coding.
            let fraction = H264Scratch.log2(i + 1)
            motionBits.elements[i] = UInt16(2 * fraction + (i > 0 ? 27 : 11))
        }
    }

    /// Returns approximately 16·log₂(x).
    private static func log2(_ x: Int) -> Int {
        let whole = Int.bitWidth - 1 - x.leadingZeroBitCount
        return 16 * whole + ((x << 4) >> whole) - 16
    }
}

/// The memory for the results of one way of coding the macroblock.
struct CandidatePointers {
    var luma: ElementPointer<UInt8>
    let cb: ElementPointer<UInt8>
    let cr: ElementPointer<UInt8>
    var levels: ElementPointer<Int16>
    var counts: ElementPointer<UInt8>
    let modes: ElementPointer<Int8>

    init(_ scratch: H264Scratch, _ index: Int) {
        let work = scratch.work.elements + index * H264Scratch.workBytes
        luma = work + H264Scratch.workLuma
        cb = work + H264Scratch.workCb
        cr = work + H264Scratch.workCr
        levels = scratch.levels.elements + index * MacroblockLevels.count
        counts = scratch.counts.elements + index * 32
        modes = scratch.modes.elements + index * 32
    }
}
