/// What is known of each macroblock of the picture being coded, for the macroblocks after it and for deblocking.
struct PictureTables {
    /// The slice's number, −1 where nothing is coded yet.
    let slice: ElementPointer<Int32>
    let isIntra: ElementPointer<UInt8>
    let qp: ElementPointer<Int8>
    let transform8x8: ElementPointer<UInt8>
    /// By 4×4 block in raster order: whether a transform block over it has levels.
    let nonZero: ElementPointer<UInt16>
    /// Intra4x4PredMode or Intra8x8PredMode by 4×4 block, 4·width to a row; 2 for other macroblocks, −1 for those that
    /// count as not available.
    let intraModes: ElementPointer<Int8>
    /// By 8×8 block, 2·width to a row, those of list 0 and from `blocks` on those of list 1: the vector, `refIdxLX`
    /// (−1 where the list is not used), and which picture that is. Vectors into no picture are zero.
    let motion: ElementPointer<MotionVector>
    let reference: ElementPointer<Int8>
    let referencePicture: ElementPointer<Int8>
    /// 8×8 blocks of the picture.
    let blocks: Int
}

/// Owns what `PictureTables` looks into.
final class PictureTableStorage: Sendable {
    private let slice: ElementStorage<Int32>
    private let isIntra: ElementStorage<UInt8>
    private let qp: ElementStorage<Int8>
    private let transform8x8: ElementStorage<UInt8>
    private let nonZero: ElementStorage<UInt16>
    private let intraModes: ElementStorage<Int8>
    private let motion: ElementStorage<MotionVector>
    private let reference: ElementStorage<Int8>
    private let referencePicture: ElementStorage<Int8>

    init(macroblocks count: Int) {
        slice = ElementStorage(count: count, repeating: -1)
        isIntra = ElementStorage(count: count, repeating: 0)
        qp = ElementStorage(count: count, repeating: 0)
        transform8x8 = ElementStorage(count: count, repeating: 0)
        nonZero = ElementStorage(count: count, repeating: 0)
        intraModes = ElementStorage(count: 16 * count, repeating: 0)
        motion = ElementStorage(count: 8 * count, repeating: .zero)
        reference = ElementStorage(count: 8 * count, repeating: -1)
        referencePicture = ElementStorage(count: 8 * count, repeating: -1)
    }

    /// Forgets the picture before.
    func begin() { slice.elements.fill(-1, count: slice.count) }

    var tables: PictureTables {
        PictureTables(
            slice: slice.elements, isIntra: isIntra.elements, qp: qp.elements, transform8x8: transform8x8.elements,
            nonZero: nonZero.elements, intraModes: intraModes.elements, motion: motion.elements, reference: reference.elements,
            referencePicture: referencePicture.elements, blocks: slice.count * 4)
    }
}
