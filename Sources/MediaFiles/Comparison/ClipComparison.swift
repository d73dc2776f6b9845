public import VideoBase

/// The PSNR and SSIM of one clip's pictures against another's, picture by picture in presentation order, as FFmpeg's
/// `psnr` and `ssim` filters compute them. Pictures are compared as 4:2:0, with 10 bits if one of the clips has more
/// than 8.
public struct ClipComparison: Sendable {
    /// The error of all pictures together. Its PSNR is that of the mean squared error.
    public private(set) var error = PictureError()
    /// The mean similarity (SSIM) of all pictures together.
    public private(set) var similarity = PictureSimilarity()
    /// The error and similarity of each picture, in presentation order.
    public private(set) var pictures: [(error: PictureError, similarity: PictureSimilarity)] = []

    /// The pixel format of the comparison.
    public let format: PixelFormat

    /// The size of the comparison, which both clips have. If one clip equals the other with its odd sides padded by
    /// one, as 4:2:0 is encoded, this is the size without the padding.
    public let size: VideoSize

    /// A clip of the comparison.
    public enum Clip: Sendable, Hashable {
        /// The first clip, which the other is compared with.
        case reference
        /// The second clip, whose quality is measured.
        case distorted
    }

    /// The clip of full range that was converted to limited range, because the other clip has limited range; nil if
    /// both have the same range. FFmpeg's filters convert in the same way. Samples of an unknown range are limited.
    public let convertedClip: Clip?

    /// Compares two clips to their end, and blocks meanwhile. Each clip is read on its own thread. The comparison owns
    /// both sources until it returns. `cancel` on either source ends it.
    /// - Throws: `DescribedError`: `badInput` if the sizes or the numbers of pictures differ, or if a clip has no
    ///   picture; the errors of reading the clips.
    public init(_ reference: any FrameSource, _ distorted: any FrameSource) throws {
        guard let common = Self.common(reference.info.size, distorted.info.size) else {
            throw VaencError(
                .badInput, "the reference is \(reference.info.size), but the other clip is \(distorted.info.size)",
                remedy: "scale both to one size with `outputSize`")
        }
        size = common
        let isDeep = max(reference.info.bitDepth, distorted.info.bitDepth) > 8
        format = isDeep ? .p010 : .nv12
        let areFull = [reference, distorted].map { $0.info.color.fullRange == true }
        convertedClip = areFull[0] == areFull[1] ? nil : areFull[0] ? .reference : .distorted
        let conversion = convertedClip.map { _ in LimitedRangeConversion(bitDepth: format.bitDepth) }
        let first = try FramePrefetcher(reference, format: format)
        defer { first.stop() }
        let second = try FramePrefetcher(distorted, format: format)
        defer { second.stop() }
        while true {
            let (a, b) = (try first.next(), try second.next())
            guard let a, let b else {
                if a == nil, b == nil { break }
                throw VaencError(
                    .badInput,
                    "the \(a == nil ? "reference" : "other") clip ends after \(pictures.count) pictures, but the "
                        + "\(a == nil ? "other" : "reference") clip continues",
                    remedy: "compare the common pictures with `frameLimit` \(max(pictures.count, 1))")
            }
            if let conversion {
                // SAFETY: the buffer has the format of the comparison, and is alive during the conversion.
                try unsafe (convertedClip == .reference ? a : b).withUnsafePlanes { unsafe conversion.apply(to: $0) }
            }
            try add(a, b)
            first.recycle(a)
            second.recycle(b)
        }
        if pictures.isEmpty {
            throw VaencError(
                .badInput, "there is no picture to compare",
                remedy: "check `start`, `duration` and the inputs")
        }
    }

    /// Returns the common size; nil if the sizes differ by more than the padding of odd sides.
    private static func common(_ a: VideoSize, _ b: VideoSize) -> VideoSize? {
        if a == b || a.aligned(to: 2) == b { return a }
        return b.aligned(to: 2) == a ? b : nil
    }

    private mutating func add(_ first: SystemPixelBuffer, _ second: SystemPixelBuffer) throws {
        let size = size
        // SAFETY: both buffers are mapped and alive during the comparison. Each is at least as large as `size`.
        let picture = try unsafe first.withUnsafePlanes { first in
            try unsafe second.withUnsafePlanes { second in
                var a = unsafe first
                var b = unsafe second
                unsafe a.size = size
                unsafe b.size = size
                var similarity = PictureSimilarity()
                unsafe try similarity.add(a, b)
                return (error: unsafe try PictureError(a, b), similarity: similarity)
            }
        }
        error += picture.error
        similarity += picture.similarity
        pictures.append(picture)
    }
}
