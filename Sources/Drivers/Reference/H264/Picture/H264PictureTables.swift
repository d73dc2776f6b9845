/// The data of each macroblock of the current picture that later macroblocks and deblocking use.
struct H264PictureTables {
    /// The slice number, or −1 if the macroblock is not coded yet.
    let slice: ElementPointer<Int32>
    let isIntra: ElementPointer<UInt8>
    let qp: ElementPointer<Int8>
    let transform8x8: ElementPointer<UInt8>
    /// A bit for each 4×4 block of the macroblock in raster order: whether its transform block has levels.
    let nonZero: ElementPointer<UInt16>
    /// Intra4x4PredMode or Intra8x8PredMode by 4×4 block, with 4·width entries in a row. It is 2 for other macroblocks,
    /// and −1 for those that count as not available.
    let intraModes: ElementPointer<Int8>
    /// Three values for each 8×8 block, with 2·width entries in a row: the vector, `refIdxLX` (−1 if the list is not
    /// used), and the number of the reference picture. First come those of list 0, and from index `blocks` on those of
    /// list 1. If a list is not used, its vector is zero.
    let motion: ElementPointer<MotionVector>
    let reference: ElementPointer<Int8>
    let referencePicture: ElementPointer<Int8>
    /// The number of 8×8 blocks of the picture.
    let blocks: Int
}

/// Owns the memory that `H264PictureTables` points to.
final class H264PictureTableStorage: Sendable {
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

    /// Resets the tables for the next picture.
    func begin() { slice.elements.fill(-1, count: slice.count) }

    var tables: H264PictureTables {
        H264PictureTables(
            slice: slice.elements, isIntra: isIntra.elements, qp: qp.elements, transform8x8: transform8x8.elements,
            nonZero: nonZero.elements, intraModes: intraModes.elements, motion: motion.elements, reference: reference.elements,
            referencePicture: referencePicture.elements, blocks: slice.count * 4)
    }
}
