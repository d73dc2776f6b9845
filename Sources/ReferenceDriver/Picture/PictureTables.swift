/// What is known of each macroblock of the picture being coded, for the macroblocks after it and for deblocking.
struct PictureTables {
    /// The slice's number, −1 where nothing is coded yet.
    let slice: Lane<Int32>
    let isIntra: Lane<UInt8>
    let qp: Lane<Int8>
    let transform8x8: Lane<UInt8>
    /// By 4×4 block in raster order: whether a transform block over it has levels.
    let nonZero: Lane<UInt16>
    /// Intra4x4PredMode or Intra8x8PredMode by 4×4 block, 4·width to a row; 2 for other macroblocks, −1 for those that
    /// count as not available.
    let intraModes: Lane<Int8>
    /// By 8×8 block, 2·width to a row, those of list 0 and from `blocks` on those of list 1: the vector, `refIdxLX`
    /// (−1 where the list is not used), and which picture that is. Vectors into no picture are zero.
    let motion: Lane<MotionVector>
    let reference: Lane<Int8>
    let referencePicture: Lane<Int8>
    /// 8×8 blocks of the picture.
    let blocks: Int
}

/// Owns what `PictureTables` looks into.
final class PictureTableStorage: Sendable {
    private let slice: LaneStorage<Int32>
    private let isIntra: LaneStorage<UInt8>
    private let qp: LaneStorage<Int8>
    private let transform8x8: LaneStorage<UInt8>
    private let nonZero: LaneStorage<UInt16>
    private let intraModes: LaneStorage<Int8>
    private let motion: LaneStorage<MotionVector>
    private let reference: LaneStorage<Int8>
    private let referencePicture: LaneStorage<Int8>

    init(macroblocks count: Int) {
        slice = LaneStorage(count: count, repeating: -1)
        isIntra = LaneStorage(count: count, repeating: 0)
        qp = LaneStorage(count: count, repeating: 0)
        transform8x8 = LaneStorage(count: count, repeating: 0)
        nonZero = LaneStorage(count: count, repeating: 0)
        intraModes = LaneStorage(count: 16 * count, repeating: 0)
        motion = LaneStorage(count: 8 * count, repeating: .zero)
        reference = LaneStorage(count: 8 * count, repeating: -1)
        referencePicture = LaneStorage(count: 8 * count, repeating: -1)
    }

    /// Forgets the picture before.
    func begin() { slice.lane.fill(-1, count: slice.count) }

    var tables: PictureTables {
        PictureTables(
            slice: slice.lane, isIntra: isIntra.lane, qp: qp.lane, transform8x8: transform8x8.lane,
            nonZero: nonZero.lane, intraModes: intraModes.lane, motion: motion.lane, reference: reference.lane,
            referencePicture: referencePicture.lane, blocks: slice.count * 4)
    }
}
