package import CLibAV
package import VideoBase

/// Converts and scales pictures with libswscale. Only one thread may use it at a time.
@safe package final class Scaler {
    /// The parameters that determine libswscale's tables.
    private struct Shape: Hashable {
        var source: Int32
        var sourceSize: VideoSize
        var destination: Int32
        var destinationSize: VideoSize
        var color: ColorDescription
        var target: ColorDescription?
    }

    // SAFETY: only this object creates and frees the context. The table is static.
    private let av: UnsafePointer<VaencLibAV>
    private var context: OpaquePointer?
    private var shape: Shape?
    /// Aligned copies of pictures whose rows are not aligned.
    private var input: AlignedPicture?
    private var output: AlignedPicture?
    /// The neutral chroma plane of gray pictures.
    private var chroma: AlignedPicture?

    /// - Throws: `unavailable` if libswscale is missing.
    package init() throws(VaencError) { unsafe av = try LibAV.load(.scale) }

    deinit { unsafe av.pointee.sws_freeContext!(context) }

    /// Writes `source` over the whole of `destination`.
    ///
    /// - Parameters:
    ///   - color: The description of the source. Conversions between YUV formats keep its range and matrix. For
    ///     conversions from RGB it describes the result: limited range if it states none, and the usual matrix if it
    ///     names none.
    ///   - target: The description of the destination, if its range or matrix differs from the source's.
    ///   - within: Whether the destination is part of a larger picture, whose other samples must stay unchanged.
    /// - Throws: If the conversion is not supported, or if there is no memory.
    package func scale(
        _ source: PictureView, to destination: PictureView, color: ColorDescription, target: ColorDescription? = nil,
        within: Bool = false
    ) throws {
        var from = unsafe source
        var to = unsafe destination
        if unsafe !source.isAligned {
            let copy = unsafe try alignedCopy(input, for: source)
            input = copy
            unsafe source.copy(to: copy.view, av)
            unsafe from = copy.view
        }
        let bounces = unsafe within || !destination.isAligned
        if bounces {
            let copy = unsafe try alignedCopy(output, for: destination)
            output = copy
            unsafe to = copy.view
        }
        unsafe try run(from, to: to, color: color, target: target)
        if bounces { unsafe to.copy(to: destination, av) }
    }

    private func alignedCopy(_ existing: AlignedPicture?, for picture: PictureView) throws -> AlignedPicture {
        if let existing, unsafe existing.fits(picture) { return existing }
        return unsafe try AlignedPicture(like: picture, av)
    }

    private func run(_ gray: PictureView, to destination: PictureView, color: ColorDescription, target: ColorDescription?) throws {
        let source = unsafe destination.format.isGray(av) ? gray : try withChroma(gray)
        let requestedShape = unsafe Shape(
            source: source.format.rawValue, sourceSize: source.size, destination: destination.format.rawValue,
            destinationSize: destination.size, color: color, target: target)
        if shape != requestedShape {
            shape = nil
            unsafe try make(requestedShape, from: source.format, to: destination.format)
            shape = requestedShape
        }
        // SAFETY: both views cover the sizes that sws_getContext received. The arrays live until the call returns.
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

    /// Returns a gray picture as a planar YUV picture with neutral chroma, and other pictures unchanged. libswscale's own
    /// conversion from gray to NV12 and P010 leaves the chroma at 0 and does not shift the luma if both ranges are full.
    private func withChroma(_ picture: PictureView) throws -> PictureView {
        guard let format = unsafe picture.format.withChroma, let depth = unsafe av.pointee.av_pix_fmt_desc_get!(format)?.pointee.comp.0.depth
        else { return unsafe picture }
        var plane = unsafe picture
        unsafe plane.size = VideoSize(width: (picture.size.width + 1) / 2, height: (picture.size.height + 1) / 2)
        let memory: AlignedPicture
        if let chroma, unsafe chroma.fits(plane) {
            memory = chroma
        } else {
            memory = unsafe try AlignedPicture(like: plane, av)
            let neutral = UInt16(1) << UInt16(depth - 1)
            let isBigEndian = unsafe picture.format.hasFlags(AV_PIX_FMT_FLAG_BE, av)
            // SAFETY: the plane has `height` rows of `strides[0]` bytes, which are a multiple of 64.
            let count = unsafe Int(memory.view.strides[0]) * memory.view.size.height
            let bytes = unsafe UnsafeMutableRawPointer(memory.view.data[0]!)
            if depth == 8 {
                unsafe bytes.initializeMemory(as: UInt8.self, repeating: UInt8(neutral), count: count)
            } else {
                unsafe bytes.initializeMemory(as: UInt16.self, repeating: isBigEndian ? neutral.bigEndian : neutral.littleEndian, count: count / 2)
            }
            chroma = memory
        }
        var view = unsafe picture
        unsafe view.format = format
        for index in 1...2 {
            unsafe view.data[index] = memory.view.data[0]
            unsafe view.strides[index] = memory.view.strides[0]
        }
        return unsafe view
    }

    private func make(_ shape: Shape, from source: AVPixelFormat, to destination: AVPixelFormat) throws {
        unsafe av.pointee.sws_freeContext!(context)
        let isFull = (shape.target ?? shape.color).fullRange == true
        let hasRGB = unsafe source.isRGB(av)
        // libswscale converts a palette to limited-range YUV itself.
        var sourceFull = unsafe hasRGB ? !source.isPalette(av) : isFullRangeName(source) || shape.color.fullRange == true
        var destinationFull = unsafe destination.isRGB(av) || (hasRGB || shape.target != nil ? isFull : sourceFull)
        // libswscale takes all gray samples as full range. The range stays unchanged if the other side is full, too.
        let keepsGray = unsafe shape.target == nil && !hasRGB && !destination.isRGB(av) && (source.isGray(av) || destination.isGray(av))
        if keepsGray { (sourceFull, destinationFull) = (true, true) }
        if unsafe !keepsGray && sourceFull == destinationFull || hasRGB || destination.isRGB(av) {
            // SAFETY: sws_getContext accepts null filters and parameters.
            unsafe context = av.pointee.sws_getContext!(
                Int32(shape.sourceSize.width), Int32(shape.sourceSize.height), source,
                Int32(shape.destinationSize.width), Int32(shape.destinationSize.height), destination,
                SWS_BICUBIC | SWS_ACCURATE_RND, nil, nil, nil)
        } else {
            // If the ranges are set after the context was initialized and nothing else differs, libswscale copies the
            // samples unchanged.
            unsafe context = initialized([
                ("srcw", shape.sourceSize.width), ("srch", shape.sourceSize.height), ("src_format", Int(source.rawValue)),
                ("src_range", sourceFull ? 1 : 0), ("dstw", shape.destinationSize.width), ("dsth", shape.destinationSize.height),
                ("dst_format", Int(destination.rawValue)), ("dst_range", destinationFull ? 1 : 0),
                ("sws_flags", Int(SWS_BICUBIC | SWS_ACCURATE_RND)),
            ])
        }
        guard unsafe context != nil else {
            let words = LibAV.takeLog().map { " (\($0))" } ?? ""
            // libswscale logs a message for an unsupported conversion, but nothing for most failed allocations.
            if words.isEmpty || LibAV.isNoMemory(words) {
                throw VaencError.noMemory("to convert a picture of \(shape.sourceSize)")
            }
            throw VaencError(
                .badInput,
                "cannot convert \(name(source)) \(shape.sourceSize) to \(name(destination)) \(shape.destinationSize)\(words)",
                remedy: "use another size (`outputSize`)")
        }
        func matrix(_ color: ColorDescription) -> Int32 {
            Int32(color.knownMatrix ?? ColorDescription.usualMatrix(rows: shape.sourceSize.height))
        }
        let one: Int32 = 1 << 16
        // SAFETY: the coefficient tables are static.
        _ = unsafe av.pointee.sws_setColorspaceDetails!(
            context, av.pointee.sws_getCoefficients!(matrix(shape.color)), sourceFull ? 1 : 0,
            av.pointee.sws_getCoefficients!(matrix(shape.target ?? shape.color)), destinationFull ? 1 : 0, 0, one, one)
    }

    private func name(_ format: AVPixelFormat) -> String {
        unsafe av.pointee.av_get_pix_fmt_name!(format).map { unsafe String(cString: $0) } ?? "?"
    }

    /// Returns a context with these options; nil if libswscale rejects them.
    private func initialized(_ options: [(name: String, value: Int)]) -> OpaquePointer? {
        guard let context = unsafe av.pointee.sws_alloc_context!() else { return nil }
        let areSet = options.allSatisfy { unsafe av.pointee.av_opt_set!(UnsafeMutableRawPointer(context), $0.name, String($0.value), 0) == 0 }
        if areSet, unsafe av.pointee.sws_init_context!(context, nil, nil) >= 0 { return unsafe context }
        unsafe av.pointee.sws_freeContext!(context)
        return nil
    }

    private func isFullRangeName(_ format: AVPixelFormat) -> Bool {
        [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P].contains(format)
    }
}

extension AVPixelFormat {
    /// Whether pictures consist of red, green and blue, directly or through a palette.
    package func isRGB(_ av: UnsafePointer<VaencLibAV>) -> Bool { unsafe hasFlags(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL, av) }

    /// Whether pictures consist of luma only, with or without alpha.
    package func isGray(_ av: UnsafePointer<VaencLibAV>) -> Bool {
        // SAFETY: the table is static.
        guard let description = unsafe av.pointee.av_pix_fmt_desc_get!(self)?.pointee else { return false }
        return unsafe description.nb_components < 3 && description.comp.0.depth >= 8 && !isRGB(av)
    }

    /// The planar 4:2:0 format with the samples of a gray format; nil for other formats and for gray with alpha.
    fileprivate var withChroma: AVPixelFormat? {
        switch self {
        case AV_PIX_FMT_GRAY8: AV_PIX_FMT_YUV420P
        case AV_PIX_FMT_GRAY9LE: AV_PIX_FMT_YUV420P9LE
        case AV_PIX_FMT_GRAY9BE: AV_PIX_FMT_YUV420P9BE
        case AV_PIX_FMT_GRAY10LE: AV_PIX_FMT_YUV420P10LE
        case AV_PIX_FMT_GRAY10BE: AV_PIX_FMT_YUV420P10BE
        case AV_PIX_FMT_GRAY12LE: AV_PIX_FMT_YUV420P12LE
        case AV_PIX_FMT_GRAY12BE: AV_PIX_FMT_YUV420P12BE
        case AV_PIX_FMT_GRAY14LE: AV_PIX_FMT_YUV420P14LE
        case AV_PIX_FMT_GRAY14BE: AV_PIX_FMT_YUV420P14BE
        case AV_PIX_FMT_GRAY16LE: AV_PIX_FMT_YUV420P16LE
        case AV_PIX_FMT_GRAY16BE: AV_PIX_FMT_YUV420P16BE
        default: nil
        }
    }

    /// Whether pictures have a palette. libswscale always converts these to YUV with BT.601.
    package func isPalette(_ av: UnsafePointer<VaencLibAV>) -> Bool { unsafe hasFlags(AV_PIX_FMT_FLAG_PAL, av) }

    fileprivate func hasFlags(_ flags: Int32, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        // SAFETY: the table is static.
        unsafe (av.pointee.av_pix_fmt_desc_get!(self)?.pointee.flags ?? 0) & UInt64(flags) != 0
    }
}
