import CLibAV
import LibAV
package import VideoBase

/// Converts a source's pictures to the requested size and format. Only one thread may use it at a time.
package final class FrameShaper {
    /// The size of the output pictures.
    package let outputSize: VideoSize
    /// The sample aspect ratio of the output pictures.
    let outputAspect: Rational?
    /// The parts of the source and of the output that correspond to each other.
    package let parts: FittedParts
    private let fullRange: Bool
    private let converter: PixelConverter

    /// Creates the converter.
    ///
    /// - Parameters:
    ///   - source: The size of the source's pictures.
    ///   - aspect: The source's sample aspect ratio. Letterbox and crop keep the displayed shape.
    ///   - color: The source's color.
    ///   - target: The output's color, if it differs from the source's.
    ///   - output: The output's size; nil keeps the source's size.
    ///   - fit: How the picture is fitted to another aspect ratio.
    package init(
        source: VideoSize, aspect: Rational?, color: ColorDescription, target: ColorDescription? = nil,
        output: VideoSize?, fit: FrameFit
    ) {
        outputSize = output ?? source
        converter = PixelConverter(color: color, target: target)
        fullRange = (target ?? color).fullRange == true
        guard let output, output != source else {
            parts = .whole
            outputAspect = aspect
            return
        }
        outputAspect = Rational(1, 1)
        parts = FittedParts(source, aspect: aspect, in: output, fit)
    }

    /// Writes a picture of the source's size to `destination`, which has the output's size.
    /// - Throws: `usage` for planes of another size; the errors of `PixelConverter.convert`.
    package func shape(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        unsafe try destination.check(forPicturesOf: outputSize)
        if parts == .whole {
            unsafe try converter.convert(source, to: destination)
        } else {
            unsafe try shape(PictureView(source), to: destination)
        }
    }

    /// Writes a picture in any of libav's formats to `destination`, which has the output's size.
    func shape(_ source: PictureView, to destination: PixelPlanes) throws {
        unsafe try destination.check(forPicturesOf: outputSize)
        var from = unsafe source
        var to = unsafe PictureView(destination)
        // SAFETY: the parts are inside the pictures.
        if parts != .whole {
            let av = unsafe try LibAV.load(.scale)
            if let part = parts.source { unsafe from = source.cropped(to: part, av) }
            if let part = parts.target {
                unsafe PlaneCopy.fillBlack(destination, fullRange: fullRange)
                unsafe to = to.cropped(to: part, av)
            }
        }
        unsafe try converter.scale(from, to: to, within: parts.target != nil)
    }
}

extension PixelPlanes {
    /// Checks the planes that a caller provides for a source's pictures.
    ///
    /// - Throws: `usage` for planes of another size, and for planes without memory or with too small a pitch.
    func check(forPicturesOf size: VideoSize) throws(VaencError) {
        guard unsafe self.size == size else {
            throw VaencError(
                .usage, "the planes have the size \(unsafe self.size), but the pictures have the size \(size)",
                remedy: "use planes of the size in the source's info")
        }
        try unsafe check()
    }
}
