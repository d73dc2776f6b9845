/// The reconstructed picture of an encoder.
enum Reconstruction: Sendable {
    case h264(H264ReconstructedPicture)
    /// The picture and its PicOrderCntVal.
    case hevc(HEVCReconstructedPicture, order: Int)

    var h264: H264ReconstructedPicture? {
        if case .h264(let picture) = self { picture } else { nil }
    }

    var hevc: HEVCReconstructedPicture? {
        if case .hevc(let picture, _) = self { picture } else { nil }
    }

    /// The width in luma samples.
    var width: Int {
        switch self {
        case .h264(let picture): 16 * picture.widthInMacroblocks
        case .hevc(let picture, _): picture.grid.width
        }
    }

    /// The height in luma samples.
    var height: Int {
        switch self {
        case .h264(let picture): 16 * picture.heightInMacroblocks
        case .hevc(let picture, _): picture.grid.height
        }
    }

    /// Whether a sample has more than 8 bits. `copyLumaRow` and `copyChromaRow` then write two bytes per sample,
    /// little-endian, with the value in the low bits.
    var isWide: Bool {
        switch self {
        case .h264: false
        case .hevc(let picture, _): picture.bitDepth > 8
        }
    }

    /// Copies the first `count` samples of luma row `y`.
    func copyLumaRow(_ y: Int, count: Int, to destination: ElementPointer<UInt8>) {
        switch self {
        case .h264(let picture):
            picture.copyLumaRow(y, count: count, to: destination)
        case .hevc(let picture, _) where picture.bitDepth > 8:
            let planes = picture.planes(UInt16.self)
            destination.put(planes.luma + y * planes.stride, count: count)
        case .hevc(let picture, _):
            let planes = picture.planes(UInt8.self)
            destination.copy(from: planes.luma + y * planes.stride, count: count)
        }
    }

    /// Copies the first `count` Cb/Cr pairs of chroma row `y` (half height), Cb first.
    func copyChromaRow(_ y: Int, count: Int, toPairs destination: ElementPointer<UInt8>) {
        switch self {
        case .h264(let picture):
            picture.copyChromaRow(y, count: count, toPairs: destination)
        case .hevc(let picture, _) where picture.bitDepth > 8:
            let planes = picture.planes(UInt16.self)
            let (cb, cr) = (planes.cb + y * planes.chromaStride, planes.cr + y * planes.chromaStride)
            for x in 0..<count {
                destination.store(4 * x, cb[x].littleEndian)
                destination.store(4 * x + 2, cr[x].littleEndian)
            }
        case .hevc(let picture, _):
            let planes = picture.planes(UInt8.self)
            let (cb, cr) = (planes.cb + y * planes.chromaStride, planes.cr + y * planes.chromaStride)
            for x in 0..<count {
                destination[2 * x] = cb[x]
                destination[2 * x + 1] = cr[x]
            }
        }
    }

    /// Copies the first `count` samples of chroma row `y` (half height), each plane to its own destination.
    func copyChromaRow(_ y: Int, count: Int, toCb cb: ElementPointer<UInt8>, cr: ElementPointer<UInt8>) {
        switch self {
        case .h264(let picture):
            picture.copyChromaRow(y, count: count, toCb: cb, cr: cr)
        case .hevc(let picture, _) where picture.bitDepth > 8:
            let planes = picture.planes(UInt16.self)
            cb.put(planes.cb + y * planes.chromaStride, count: count)
            cr.put(planes.cr + y * planes.chromaStride, count: count)
        case .hevc(let picture, _):
            let planes = picture.planes(UInt8.self)
            cb.copy(from: planes.cb + y * planes.chromaStride, count: count)
            cr.copy(from: planes.cr + y * planes.chromaStride, count: count)
        }
    }
}

extension ElementPointer<UInt8> {
    /// Stores each word as two bytes, the low byte first.
    fileprivate func put(_ words: ElementPointer<UInt16>, count: Int) {
        for x in 0..<count { store(2 * x, words[x].littleEndian) }
    }
}
