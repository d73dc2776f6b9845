/// A picture that was encoded, as later pictures predict from it.
///
/// Its samples take memory only from the first write on; until then every sample reads as 128. One thread
/// at a time may write it, and only while nobody reads it.
package final class ReconstructedPicture: @unchecked Sendable {
    package let widthInMacroblocks: Int
    package let heightInMacroblocks: Int
    private var storage: ElementStorage<UInt8>?
    /// By 8×8 block, 2·width to a row: 1 where it was predicted from the first picture of its list by hardly any
    /// motion, which stills direct prediction of B slices (colZeroFlag of H.264 8.4.1.2.2).
    private var stillBlockStorage: ElementStorage<UInt8>?
    /// The samples stand, but neither the margins nor the half-sample planes.
    private var isUnfinished = false
    /// Only the encoder that made the picture looks at this.
    var renewal = Renewal()

    package init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
    }

    /// The samples, allocated when first asked for.
    package var planes: ReferencePlanes {
        let geometry = PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks)
        if let storage { return ReferencePlanes(geometry, storage.elements) }
        let fresh = ElementStorage<UInt8>(count: geometry.byteCount, repeating: 128)
        storage = fresh
        return ReferencePlanes(geometry, fresh.elements)
    }

    /// Makes every sample 128.
    package func fillGrey() {
        storage = nil
        stillBlockStorage = nil
        isUnfinished = false
    }

    /// See `stillness`; allocated when first asked for.
    var stillBlocks: ElementPointer<UInt8> {
        if let stillBlockStorage { return stillBlockStorage.elements }
        let fresh = ElementStorage<UInt8>(count: 4 * widthInMacroblocks * heightInMacroblocks, repeating: 0)
        stillBlockStorage = fresh
        return fresh.elements
    }

    /// Once the samples stand: completes the planes now, or when they are first referred to.
    func finish(isReference: Bool) {
        isUnfinished = true
        if isReference { finishForReference() }
    }

    /// Completes the planes where that has not been done.
    func finishForReference() {
        guard isUnfinished else { return }
        isUnfinished = false
        planes.finish(
            PlaneGeometry(widthInMacroblocks: widthInMacroblocks, heightInMacroblocks: heightInMacroblocks))
    }

    /// Takes over a client's surface, as if it had been decoded; samples outside it repeat its last column and row.
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

    /// Copies the first `count` Cb/Cr pairs of chroma row `y` (half height): 2·`count` bytes, Cb first, as NV12 has them.
    package func copyChromaRow(_ y: Int, count: Int, toPairs destination: ElementPointer<UInt8>) {
        destination.copy(from: planes.chroma + y * stride, count: 2 * count)
    }

    /// Copies the first `count` samples of chroma row `y` (half height), each plane to its own place.
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
