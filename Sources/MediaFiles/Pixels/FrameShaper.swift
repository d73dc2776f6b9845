import CLibAV
import LibAV
package import VideoBase

/// Brings a source's pictures to the size and format that were asked for. One thread at a time.
package final class FrameShaper {
    package let outputSize: VideoSize
    /// The sample aspect ratio of what comes out.
    let outputAspect: Rational?
    /// The part of the source that is shown, and where it is shown; nil where that is everything.
    private let sourcePart: VideoRectangle?
    private let destinationPart: VideoRectangle?
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
            sourcePart = nil
            destinationPart = nil
            outputAspect = aspect
            return
        }
        outputAspect = Rational(1, 1)
        // The source's shape in square samples, as width over height.
        let shape = Double(source.width) * (aspect?.value ?? 1) / Double(source.height)
        let target = Double(output.width) / Double(output.height)
        switch fit {
        case .stretch:
            sourcePart = nil
            destinationPart = nil
        case .letterbox:
            let width = shape >= target ? output.width : Self.even(Double(output.height) * shape, output.width)
            let height = shape >= target ? Self.even(Double(output.width) / shape, output.height) : output.height
            sourcePart = nil
            destinationPart = Self.centered(VideoSize(width: width, height: height), in: output)
        case .crop:
            let share = target / shape
            let width = share < 1 ? Self.even(Double(source.width) * share, source.width) : source.width
            let height = share > 1 ? Self.even(Double(source.height) / share, source.height) : source.height
            sourcePart = Self.centered(VideoSize(width: width, height: height), in: source)
            destinationPart = nil
        }
    }

    /// Whether pictures come out as they went in, format aside.
    var keepsSize: Bool { sourcePart == nil && destinationPart == nil }

    /// Nearest even number, at least 2 (or the limit), at most `limit`.
    private static func even(_ value: Double, _ limit: Int) -> Int {
        min(limit, max(min(2, limit), Int((value / 2).rounded()) * 2))
    }

    /// In the middle, the corner on even samples; nil where it covers everything.
    private static func centered(_ size: VideoSize, in whole: VideoSize) -> VideoRectangle? {
        if size == whole { return nil }
        return VideoRectangle(
            x: (whole.width - size.width) / 4 * 2, y: (whole.height - size.height) / 4 * 2, width: size.width,
            height: size.height)
    }

    /// Writes a picture of the source's size to `destination`, of the output's size.
    package func shape(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        unsafe try checkSize(destination)
        if keepsSize {
            unsafe try converter.convert(source, to: destination)
        } else {
            unsafe try shape(PictureView(source), to: destination)
        }
    }

    /// As above for a picture of any of libav's formats.
    func shape(_ source: PictureView, to destination: PixelPlanes) throws {
        unsafe try checkSize(destination)
        var from = unsafe source
        var to = unsafe PictureView(destination)
        // SAFETY: the parts lie inside the pictures.
        if sourcePart != nil || destinationPart != nil {
            let av = unsafe try LibAV.load(.scale)
            if let part = sourcePart { unsafe from = source.cropped(to: part, av) }
            if let part = destinationPart {
                unsafe PlaneCopy.fillBlack(destination, fullRange: fullRange)
                unsafe to = to.cropped(to: part, av)
            }
        }
        unsafe try converter.scale(from, to: to, within: destinationPart != nil)
    }

    private func checkSize(_ destination: PixelPlanes) throws {
        guard unsafe destination.size == outputSize else {
            throw VaencError(
                .internalFault, "a buffer of \(unsafe destination.size) was given for pictures of \(outputSize)")
        }
    }
}
