package import CLibAV
package import VideoBase

/// Converts and scales pictures with libswscale. One thread at a time.
@safe package final class Scaler {
    /// What decides the tables inside libswscale.
    private struct Shape: Hashable {
        var source: Int32
        var sourceSize: VideoSize
        var destination: Int32
        var destinationSize: VideoSize
        var color: ColorDescription
        var target: ColorDescription?
    }

    // SAFETY: the context is made and freed by this object alone; the table is static.
    private let av: UnsafePointer<VaencLibAV>
    private var context: OpaquePointer?
    private var shape: Shape?
    /// Stand in for pictures whose rows are not aligned.
    private var input: AlignedPicture?
    private var output: AlignedPicture?

    /// - Throws: `unavailable` without libswscale.
    package init() throws(VaencError) { unsafe av = try LibAV.load(.scale) }

    deinit { unsafe av.pointee.sws_freeContext!(context) }

    /// Writes `source` over the whole of `destination`. `color` describes the source, range and matrix are kept between YUV
    /// formats; or what RGB becomes: limited range where it says none, and the usual matrix where it names none.
    ///
    /// `target` describes the destination, where range and matrix are to be others than the source's.
    /// `within` says that the destination is part of a larger picture, which must stay as it is beside it.
    package func scale(
        _ source: PictureView, to destination: PictureView, color: ColorDescription, target: ColorDescription? = nil,
        within: Bool = false
    ) throws {
        var from = unsafe source
        var to = unsafe destination
        if unsafe !source.isAligned {
            let copy = unsafe try standIn(input, for: source)
            input = copy
            unsafe source.copy(to: copy.view, av)
            unsafe from = copy.view
        }
        let bounces = unsafe within || !destination.isAligned
        if bounces {
            let copy = unsafe try standIn(output, for: destination)
            output = copy
            unsafe to = copy.view
        }
        unsafe try run(from, to, color, target)
        if bounces { unsafe to.copy(to: destination, av) }
    }

    private func standIn(_ kept: AlignedPicture?, for picture: PictureView) throws -> AlignedPicture {
        if let kept, unsafe kept.fits(picture) { return kept }
        return unsafe try AlignedPicture(like: picture, av)
    }

    private func run(_ source: PictureView, _ destination: PictureView, _ color: ColorDescription, _ target: ColorDescription?) throws {
        let wanted = unsafe Shape(
            source: source.format.rawValue, sourceSize: source.size, destination: destination.format.rawValue,
            destinationSize: destination.size, color: color, target: target)
        if shape != wanted {
            shape = nil
            unsafe try make(wanted, source.format, destination.format)
            shape = wanted
        }
        // SAFETY: both views cover their sizes, as sws_getContext was told; the arrays live through the call.
        let rows = unsafe source.data.withUnsafeBufferPointer { from in
            unsafe destination.data.withUnsafeBufferPointer { to in
                let slices = unsafe UnsafeRawPointer(from.baseAddress!)
                    .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
                return unsafe av.pointee.sws_scale!(
                    context, slices, source.strides, 0, Int32(source.size.height), to.baseAddress!, destination.strides)
            }
        }
        if LibAV.isNoMemory(rows) { throw VaencError.noMemory("to convert a picture of \(unsafe source.size)") }
        if rows < 0 { throw VaencError(.internalFault, "libswscale failed: \(unsafe LibAV.message(rows, av))") }
    }

    private func make(_ shape: Shape, _ source: AVPixelFormat, _ destination: AVPixelFormat) throws {
        unsafe av.pointee.sws_freeContext!(context)
        let bicubic: Int32 = 4
        let accurate: Int32 = 0x40000
        // SAFETY: null filters and parameters are allowed.
        unsafe context = av.pointee.sws_getContext!(
            Int32(shape.sourceSize.width), Int32(shape.sourceSize.height), source,
            Int32(shape.destinationSize.width), Int32(shape.destinationSize.height), destination,
            bicubic | accurate, nil, nil, nil)
        guard unsafe context != nil else {
            let words = LibAV.takeLog().map { " (\($0))" } ?? ""
            // libswscale names what it does not support, and says nothing of most allocations that fail.
            if words.isEmpty || LibAV.isNoMemory(words) {
                throw VaencError.noMemory("to convert a picture of \(shape.sourceSize)")
            }
            throw VaencError(
                .badInput,
                "cannot convert \(name(source)) \(shape.sourceSize) to \(name(destination)) \(shape.destinationSize)\(words)",
                remedy: "choose another size (`outputSize`)")
        }
        func matrix(_ color: ColorDescription) -> Int32 {
            Int32(color.knownMatrix ?? ColorDescription.usualMatrix(rows: shape.sourceSize.height))
        }
        let isFull = (shape.target ?? shape.color).fullRange == true
        let hasRGB = unsafe source.isRGB(av)
        // libswscale makes limited YUV of a palette by itself.
        let sourceFull = unsafe hasRGB ? !source.isPalette(av) : isFullRangeName(source) || shape.color.fullRange == true
        let destinationFull = unsafe destination.isRGB(av) || (hasRGB || shape.target != nil ? isFull : sourceFull)
        let one: Int32 = 1 << 16
        // SAFETY: the coefficient tables are static.
        _ = unsafe av.pointee.sws_setColorspaceDetails!(
            context, av.pointee.sws_getCoefficients!(matrix(shape.color)), sourceFull ? 1 : 0,
            av.pointee.sws_getCoefficients!(matrix(shape.target ?? shape.color)), destinationFull ? 1 : 0, 0, one, one)
    }

    private func name(_ format: AVPixelFormat) -> String {
        unsafe av.pointee.av_get_pix_fmt_name!(format).map { unsafe String(cString: $0) } ?? "?"
    }

    private func isFullRangeName(_ format: AVPixelFormat) -> Bool {
        [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P].contains(format)
    }
}

extension AVPixelFormat {
    /// Pictures are of red, green and blue, each of their own or by a palette.
    package func isRGB(_ av: UnsafePointer<VaencLibAV>) -> Bool { unsafe hasFlags(1 << 5 | 1 << 1, av) }

    /// libswscale makes YUV of BT.601 of those, whatever it is asked for.
    package func isPalette(_ av: UnsafePointer<VaencLibAV>) -> Bool { unsafe hasFlags(1 << 1, av) }

    private func hasFlags(_ flags: UInt64, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        // SAFETY: the table is static.
        unsafe (av.pointee.av_pix_fmt_desc_get!(self)?.pointee.flags ?? 0) & flags != 0
    }
}
