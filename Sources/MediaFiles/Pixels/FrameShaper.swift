import CLibAV
import LibAV
package import VideoBase

/// Brings a source's pictures to the size and format that were asked for. One thread at a time.
package final class FrameShaper {
    package let outputSize: VideoSize
    /// The sample aspect ratio of what comes out.
    let outputAspect: Rational?
    package let parts: FittedParts
    private let fullRange: Bool
    private let converter: PixelConverter

    /// - Parameters:
    ///   - aspect: the source's sample aspect ratio: letterbox and crop keep the shape of what is shown.
    ///   - target: the output's colour, where it is to be another than the source's.
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

    /// Writes a picture of the source's size to `destination`, of the output's size.
    package func shape(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        unsafe try destination.check(forPicturesOf: outputSize)
        if parts == .whole {
            unsafe try converter.convert(source, to: destination)
        } else {
            unsafe try shape(PictureView(source), to: destination)
        }
    }

    /// As above for a picture of any of libav's formats.
    func shape(_ source: PictureView, to destination: PixelPlanes) throws {
        unsafe try destination.check(forPicturesOf: outputSize)
        var from = unsafe source
        var to = unsafe PictureView(destination)
        // SAFETY: the parts lie inside the pictures.
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
    /// Checks what a caller hands over for a source's pictures.
    ///
    /// - Throws: `usage` for planes of another size.
    func check(forPicturesOf size: VideoSize) throws(VaencError) {
        guard unsafe self.size == size else {
            throw VaencError(
                .usage, "planes of \(unsafe self.size) were given for pictures of \(size)",
                remedy: "give planes of the size in the source's info")
        }
    }
}
