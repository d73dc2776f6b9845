package import LibAV
public import VideoBase

/// Converts pictures between any two pixel formats and sizes. It uses vaenc's own kernels if possible, and otherwise
/// libswscale, which it then loads. Only one thread may use it at a time.
public final class PixelConverter {
    private let color: ColorDescription
    private let target: ColorDescription?
    private var scaler: Scaler?

    /// Creates a converter.
    ///
    /// - Parameter color: The description of the source. Conversions between YUV formats keep its range and matrix. For
    ///   conversions from RGB it describes the result: limited range if it states none; if it names no matrix, BT.709
    ///   from 720 rows on, and BT.601 below.
    public convenience init(color: ColorDescription = .unspecified) { self.init(color: color, target: nil) }

    /// Creates a converter that can change range and matrix.
    ///
    /// - Parameter target: The description of the destination, if its range or matrix differs from the source's.
    package init(color: ColorDescription, target: ColorDescription?) {
        self.color = color
        let isSame = target.map { $0.matrix == color.matrix && ($0.fullRange == true) == (color.fullRange == true) } ?? true
        self.target = isSame ? nil : target
    }

    /// Writes the picture of `source` over the visible part of `destination`, stretched if the sizes differ.
    /// - Throws: `usage` for planes without memory, and for planes whose pitch is less than a row; `unavailable` if
    ///   libswscale is needed and missing; `badInput` for conversions that it does not support.
    public func convert(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        try unsafe source.check()
        try unsafe destination.check()
        // SAFETY: the planes have the sizes that their format and size state.
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

    package func scale(_ source: PictureView, to destination: PictureView, within: Bool = false) throws {
        let scaler = try self.scaler ?? Scaler()
        self.scaler = scaler
        unsafe try scaler.scale(source, to: destination, color: color, target: target, within: within)
    }
}
