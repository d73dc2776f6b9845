import LibAV
public import VideoBase

/// Converts pictures between any two pixel formats, sizes included: with our own kernels where there is one, and
/// libswscale (loaded then) otherwise. One thread at a time.
public final class PixelConverter {
    private let color: ColorDescription
    private let target: ColorDescription?
    private var scaler: Scaler?

    /// `color` describes the source, whose range and matrix are kept between YUV formats; or what RGB becomes: limited range
    /// where it says none, and where it names no matrix BT.709 from 720 rows on and BT.601 below.
    public convenience init(color: ColorDescription = .unspecified) { self.init(color: color, target: nil) }

    /// - Parameter target: describes the destination, where its range or matrix are to be others than the source's.
    package init(color: ColorDescription, target: ColorDescription?) {
        self.color = color
        let isSame = target.map { $0.matrix == color.matrix && ($0.fullRange == true) == (color.fullRange == true) } ?? true
        self.target = isSame ? nil : target
    }

    /// Writes the picture of `source` over the visible part of `destination`, stretched where the sizes differ.
    /// - Throws: `usage` for planes without memory or with a pitch below a row; `unavailable` without libswscale where it is needed;
    ///   `badInput` for what it cannot convert.
    public func convert(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        try unsafe source.check()
        try unsafe destination.check()
        // SAFETY: planes hold what their format and size say.
        if unsafe source.size == destination.size, target == nil {
            switch unsafe (source.format, destination.format) {
            case (let from, let to) where from == to:
                unsafe PlaneCopy.copy(source, to: destination)
                return
            case (.i420, .nv12), (.yv12, .nv12):
                unsafe PlaneCopy.interleave(source, to: destination)
                return
            case (let from, let to) where SampleDepth.converts(from, to):
                unsafe SampleDepth.convert(source, to: destination, fullRange: color.fullRange == true)
                return
            default: break
            }
        }
        unsafe try scale(PictureView(source), to: PictureView(destination))
    }

    func scale(_ source: PictureView, to destination: PictureView, within: Bool = false) throws {
        let scaler = try self.scaler ?? Scaler()
        self.scaler = scaler
        unsafe try scaler.scale(source, to: destination, color: color, target: target, within: within)
    }
}
