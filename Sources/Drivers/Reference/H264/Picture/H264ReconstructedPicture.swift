/// An encoded picture, for prediction of later pictures.
///
/// The memory of its samples is allocated at the first access and filled with 128. Only one thread at a time may write
/// it, and only while no other thread reads it.
package final class H264ReconstructedPicture: @unchecked Sendable {
    package let widthInMacroblocks: Int
    package let heightInMacroblocks: Int
    private var storage: ElementStorage<UInt8>?
    /// For each 8×8 block, with 2·width entries in a row: 1 if the block predicts from the first picture of its list
    /// with vector components in −1…1. These blocks have colZeroFlag 1 in direct prediction of B slices, H.264
    /// 8.4.1.2.2.
    private var stillBlockStorage: ElementStorage<UInt8>?
    /// Whether the samples are complete, but not the margins and the half-sample planes.
    private var isUnfinished = false
    /// The state of intra refresh. Only the encoder that made the picture uses it.
    var renewal = Renewal()

    package init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
    }

    /// The planes, allocated at the first access.
    package var planes: ReferencePlanes {
        let geometry = PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
        if let storage { return ReferencePlanes(geometry, storage.elements) }
        let fresh = ElementStorage<UInt8>(count: geometry.byteCount, repeating: 128)
        storage = fresh
        return ReferencePlanes(geometry, fresh.elements)
    }

    /// The elements of `stillBlockStorage`, allocated at the first access.
    var stillBlocks: ElementPointer<UInt8> {
        if let stillBlockStorage { return stillBlockStorage.elements }
        let fresh = ElementStorage<UInt8>(count: 4 * widthInMacroblocks * heightInMacroblocks, repeating: 0)
        stillBlockStorage = fresh
        return fresh.elements
    }

    /// Allocates everything that is allocated at the first access. Call it before several threads use the picture.
    func allocate() { _ = (planes, stillBlocks) }

    /// Marks the samples as complete. Unless `isFinished`, the margins and half-sample planes are filled when the
    /// picture is first used as a reference.
    func complete(isFinished: Bool) { isUnfinished = !isFinished }

    /// Fills the margins and half-sample planes if that was not done yet.
    func finishForReference() {
        guard isUnfinished else { return }
        isUnfinished = false
        planes.finish(
            PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks))
    }

    /// Copies a client's surface, as if it had been decoded. Samples outside the surface repeat its last column and
    /// row.
    package func fill(from source: SourcePicture) {
        let geometry = PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
        let planes = self.planes
        let width = min(source.width, geometry.width)
        let height = min(source.height, geometry.height)
        for y in 0..<geometry.height {
            let row = planes.luma + y * geometry.stride
            row.copy(from: source.luma + min(y, height - 1) * source.lumaPitch, count: width)
            (row + width).fill(row[width - 1], count: geometry.width - width)
        }
        let chromaWidth = (width + 1) / 2
        let chromaHeight = (height + 1) / 2
        for y in 0..<geometry.height / 2 {
            let row = planes.chroma + y * geometry.stride
            row.copy(from: source.chroma + min(y, chromaHeight - 1) * source.chromaPitch, count: 2 * chromaWidth)
            for x in chromaWidth..<geometry.width / 2 {
                row[2 * x] = row[2 * chromaWidth - 2]
                row[2 * x + 1] = row[2 * chromaWidth - 1]
            }
        }
        stillBlockStorage = nil
        isUnfinished = false
        planes.finish(geometry)
    }

    /// Copies the first `count` samples of luma row `y`.
    package func copyLumaRow(_ y: Int, count: Int, to destination: ElementPointer<UInt8>) {
        destination.copy(from: planes.luma + y * stride, count: count)
    }

    /// Copies the first `count` Cb/Cr pairs of chroma row `y` (half height) in the layout of NV12: 2·`count` bytes, Cb
    /// first.
    package func copyChromaRow(_ y: Int, count: Int, toPairs destination: ElementPointer<UInt8>) {
        destination.copy(from: planes.chroma + y * stride, count: 2 * count)
    }

    /// Copies the first `count` samples of chroma row `y` (half height) into separate planes.
    package func copyChromaRow(_ y: Int, count: Int, toCb cb: ElementPointer<UInt8>, cr: ElementPointer<UInt8>) {
        let row = planes.chroma + y * stride
        for x in 0..<count {
            cb[x] = row[2 * x]
            cr[x] = row[2 * x + 1]
        }
    }

    private var stride: Int {
        PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks).stride
    }
}
