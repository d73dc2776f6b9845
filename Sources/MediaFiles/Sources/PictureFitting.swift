import CLibAV
import LibAV
import VideoBase

/// Fits the input's pictures into the output, and adapts to changes of their size, depth and shape. The output keeps its
/// own size and depth.
struct PictureFitting {
    private(set) var shaper: FrameShaper
    /// The size of the latest picture.
    private(set) var nativeSize: VideoSize
    /// The first change of each kind in the stream.
    var changes = PictureChanges()
    private let outputSize: VideoSize
    private let outputDepth: Int
    private let color: ColorDescription
    private let fit: FrameFit
    /// The sample aspect ratio that the container states.
    private let containerAspect: Rational?
    /// The display matrix of the first image, empty if it has none; nil: the input is no sequence of images.
    private let imageOrientation: [Int32]?
    /// The sample aspect ratio that the stream states; nil if it states none.
    private var codedAspect: Rational?
    /// The sample aspect ratio of the pictures after it has changed; nil before.
    private var aspect: Rational?

    /// - Parameters:
    ///   - info: The description of the input and output.
    ///   - aspect: The sample aspect ratio that the container states.
    ///   - fit: How pictures are fitted after a change of their size or shape.
    init(_ shaper: FrameShaper, _ info: SourceInfo, aspect: Rational?, fit: FrameFit, imageOrientation: [Int32]?) {
        self.shaper = shaper
        self.fit = fit
        self.imageOrientation = imageOrientation
        nativeSize = info.nativeSize
        outputSize = info.size
        outputDepth = info.bitDepth
        color = info.color
        containerAspect = aspect
    }

    /// Adapts to the next picture.
    ///
    /// - Parameters:
    ///   - size: The picture's size.
    ///   - number: The number of pictures before it.
    mutating func follow(_ frame: UnsafePointer<AVFrame>?, size: VideoSize, number: Int, _ av: UnsafePointer<VaencLibAV>) {
        if let depth = unsafe Self.depth(of: frame, av), depth > outputDepth, outputDepth > 0 {
            changes.add("inputDepth", asked: "\(depth)", used: "\(outputDepth)", why: "the input changes its depth", at: number)
        }
        if let first = imageOrientation, let frame = unsafe frame {
            let matrix = unsafe HDRSideData.displayMatrix(frame, av)
            if matrix != first {
                changes.add(
                    "rotation", asked: "as in each image", used: "as in the first image", why: "the images have several orientations",
                    at: number)
            }
        }
        let isSameAspect = unsafe followAspect(frame, number: number)
        if size == nativeSize, isSameAspect { return }
        if size != nativeSize {
            changes.add("inputSize", asked: "\(size)", used: "\(outputSize)", why: "the input changes its size", at: number)
            nativeSize = size
        }
        shaper = FrameShaper(source: size, aspect: aspect ?? containerAspect, color: color, output: outputSize, fit: fit)
    }

    /// Follows a change of the stream's sample aspect ratio, as broadcasts have it. Returns whether it is the same.
    private mutating func followAspect(_ frame: UnsafePointer<AVFrame>?, number: Int) -> Bool {
        guard let coded = unsafe frame?.pointee.sample_aspect_ratio, coded.num > 0, coded.den > 0 else { return true }
        let latest = Rational(Int(coded.num), Int(coded.den)).reduced
        guard let before = codedAspect else {
            codedAspect = latest
            return true
        }
        if latest == before { return true }
        // A container may state another aspect ratio than the stream. It then applies to all pictures.
        let isStream = aspect != nil || containerAspect.map { $0.reduced == before } ?? true
        codedAspect = latest
        if !isStream { return true }
        aspect = latest
        // Scaled pictures are fitted with their own shape.
        if latest != containerAspect?.reduced, outputSize == nativeSize {
            let shown = { (ratio: Rational) in "\(ratio.numerator):\(ratio.denominator)" }
            changes.add(
                "inputAspect", asked: shown(latest), used: shown(containerAspect ?? Rational(1, 1)),
                why: "the input changes its sample aspect ratio", at: number)
        }
        return false
    }

    /// Returns the bits per sample of a picture; nil if the format is unknown.
    private static func depth(of frame: UnsafePointer<AVFrame>?, _ av: UnsafePointer<VaencLibAV>) -> Int? {
        guard let frame = unsafe frame else { return nil }
        var (width, height): (Int32, Int32) = (0, 0)
        var format = AVPixelFormat(rawValue: unsafe frame.pointee.format)
        _ = unsafe vaenc_surface_shape(frame, &width, &height, &format)
        return unsafe av.pointee.av_pix_fmt_desc_get!(format).map { unsafe Int($0.pointee.comp.0.depth) }
    }
}
