internal import CLibAV

/// Scales pictures of one format and size into another through libswscale. One thread at a time.
///
/// SAFETY: the context is libswscale's from `init` to `deinit`, and keeps no pointer between calls.
@safe package final class PictureScaler: @unchecked Sendable {
    /// What a picture is on one side.
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

    /// Whether libswscale is there; loads it.
    package static var isAvailable: Bool { unsafe load() != nil }

    private static func load() -> UnsafePointer<VaencLibAV>? {
        var why = [CChar](repeating: 0, count: 256)
        return unsafe vaenc_libav(Int32(VaencLibAVScale.rawValue), &why, why.count)
    }

    /// Nil where libswscale is missing, or does not do this.
    package init?(_ conversion: Conversion) {
        let (source, target) = (conversion.source, conversion.target)
        guard let libav = unsafe Self.load(),
            let context = unsafe libav.pointee.sws_getContext?(
                Int32(clamping: source.width), Int32(clamping: source.height), source.format.libav,
                Int32(clamping: target.width), Int32(clamping: target.height), target.format.libav,
                conversion.filter.flag | Self.exact, nil, nil, nil),
            let coefficients = unsafe libav.pointee.sws_getCoefficients
        else { return nil }
        self.conversion = conversion
        unsafe self.libav = libav
        unsafe self.context = context
        // Fails where nothing is to be converted.
        _ = unsafe libav.pointee.sws_setColorspaceDetails?(
            context, coefficients(Int32(source.meaning.matrix)), source.meaning.isFull ? 1 : 0,
            coefficients(Int32(target.meaning.matrix)), target.meaning.isFull ? 1 : 0, 0, 1 << 16, 1 << 16)
    }

    deinit { unsafe libav.pointee.sws_freeContext?(context) }

    private static let exact = SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT

    /// Both pictures are as the conversion says. Up to 63 bytes after the end of each row of `target` are undefined
    /// afterwards.
    package func scale(_ source: ScaledPicture, into target: ScaledPicture) {
        let from = unsafe source.planes.map { unsafe UnsafePointer($0) }
        _ = unsafe libav.pointee.sws_scale?(
            context, from, source.pitches, 0, Int32(conversion.source.height), target.planes, target.pitches)
    }
}
