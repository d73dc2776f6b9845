internal import CLibAV

/// Scales and converts pictures from one format and size to another with libswscale. Use it on one thread at a time.
///
/// SAFETY: the object owns the context from `init` to `deinit`. libswscale stores no picture pointer in it between
/// calls.
@safe package final class PictureScaler: @unchecked Sendable {
    /// The format, size and color of the source or target picture.
    package struct Side: Sendable, Hashable {
        package var format: ScaledPicture.Format
        package var width: Int
        package var height: Int
        package var meaning: SampleMeaning

        package init(format: ScaledPicture.Format, width: Int, height: Int, meaning: SampleMeaning) {
            self.format = format
            self.width = width
            self.height = height
            self.meaning = meaning
        }
    }

    package enum Filter: Sendable, Hashable {
        case nearest, bilinear, bicubic, lanczos

        fileprivate var flag: Int32 {
            switch self {
            case .nearest: SWS_POINT
            case .bilinear: SWS_BILINEAR
            case .bicubic: SWS_BICUBIC
            case .lanczos: SWS_LANCZOS
            }
        }
    }

    package struct Conversion: Sendable, Hashable {
        package var source: Side
        package var target: Side
        package var filter: Filter

        package init(source: Side, target: Side, filter: Filter) {
            self.source = source
            self.target = target
            self.filter = filter
        }
    }

    package let conversion: Conversion
    private let libav: UnsafePointer<VaencLibAV>
    private let context: OpaquePointer

    private static let libraries = Int32(VaencLibAVScale.rawValue | VaencLibAVGuest.rawValue)

    /// Whether the libswscale version that this build was compiled for is installed. The library is not loaded.
    package static var isInstalled: Bool { vaenc_libav_is_installed(libraries) }

    private static func load() -> UnsafePointer<VaencLibAV>? {
        var why = [CChar](repeating: 0, count: 256)
        return unsafe vaenc_libav(libraries, &why, why.count)
    }

    /// Makes a scaler. Returns nil if libswscale is missing or does not support the conversion.
    package init?(_ conversion: Conversion) {
        let (source, target) = (conversion.source, conversion.target)
        guard let libav = unsafe Self.load(), let context = unsafe libav.pointee.sws_alloc_context?(),
            let coefficients = unsafe libav.pointee.sws_getCoefficients
        else { return nil }
        // The ranges must be set before the context is initialized. If they are set later and nothing else differs,
        // libswscale copies the samples unchanged.
        let options: [(String, Int)] = [
            ("srcw", source.width), ("srch", source.height), ("src_format", Int(source.format.libav.rawValue)),
            ("src_range", source.meaning.isFull ? 1 : 0), ("dstw", target.width), ("dsth", target.height),
            ("dst_format", Int(target.format.libav.rawValue)), ("dst_range", target.meaning.isFull ? 1 : 0),
            ("sws_flags", Int(conversion.filter.flag | Self.exact)),
        ]
        let areTaken = options.allSatisfy { name, value in
            unsafe libav.pointee.av_opt_set?(UnsafeMutableRawPointer(context), name, String(value), 0) == 0
        }
        guard areTaken, let start = unsafe libav.pointee.sws_init_context, unsafe start(context, nil, nil) >= 0 else {
            unsafe libav.pointee.sws_freeContext?(context)
            return nil
        }
        self.conversion = conversion
        unsafe self.libav = libav
        unsafe self.context = context
        // The call fails if no conversion is necessary. The result is not needed.
        _ = unsafe libav.pointee.sws_setColorspaceDetails?(
            context, coefficients(Int32(source.meaning.matrix)), source.meaning.isFull ? 1 : 0,
            coefficients(Int32(target.meaning.matrix)), target.meaning.isFull ? 1 : 0, 0, 1 << 16, 1 << 16)
    }

    deinit { unsafe libav.pointee.sws_freeContext?(context) }

    private static let exact = SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT

    /// Scales `source` into `target`. Both must have the format and size of the conversion. Up to 63 bytes after the
    /// end of each row of `target` are undefined afterwards.
    package func scale(_ source: ScaledPicture, into target: ScaledPicture) {
        let from = unsafe source.planes.map { unsafe UnsafePointer($0) }
        guard conversion.source != conversion.target else {
            // libswscale does not copy the chroma plane of formats with two planes.
            var (planes, sources) = unsafe (target.planes, from)
            var (pitches, sourcePitches) = (target.pitches, source.pitches)
            unsafe libav.pointee.av_image_copy?(
                &planes, &pitches, &sources, &sourcePitches, conversion.source.format.libav,
                Int32(clamping: conversion.source.width), Int32(clamping: conversion.source.height))
            return
        }
        _ = unsafe libav.pointee.sws_scale?(
            context, from, source.pitches, 0, Int32(conversion.source.height), target.planes, target.pitches)
    }
}
