/// What an encoder left of a picture, by codec.
enum Reconstruction: Sendable {
    case h264(ReconstructedPicture)

    var h264: ReconstructedPicture? {
        switch self {
        case .h264(let picture): picture
        }
    }

    /// Luma samples.
    var width: Int {
        switch self {
        case .h264(let picture): 16 * picture.widthInMacroblocks
        }
    }

    var height: Int {
        switch self {
        case .h264(let picture): 16 * picture.heightInMacroblocks
        }
    }

    /// Two bytes, the value in the low bits: more than 8 bits to a sample.
    var isWide: Bool {
        switch self {
        case .h264: false
        }
    }

    /// Copies the first `count` samples of luma row `y`.
    func copyLumaRow(_ y: Int, count: Int, to destination: Lane<UInt8>) {
        switch self {
        case .h264(let picture): picture.copyLumaRow(y, count: count, to: destination)
        }
    }

    /// Copies the first `count` Cb/Cr pairs of chroma row `y` (half height), Cb first.
    func copyChromaRow(_ y: Int, count: Int, toPairs destination: Lane<UInt8>) {
        switch self {
        case .h264(let picture): picture.copyChromaRow(y, count: count, toPairs: destination)
        }
    }

    /// Copies the first `count` samples of chroma row `y` (half height), each plane to its own place.
    func copyChromaRow(_ y: Int, count: Int, toCb cb: Lane<UInt8>, cr: Lane<UInt8>) {
        switch self {
        case .h264(let picture): picture.copyChromaRow(y, count: count, toCb: cb, cr: cr)
        }
    }
}
