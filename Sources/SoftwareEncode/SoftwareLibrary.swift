package import VideoBase

/// A library that encodes in software, by its encoder's name in libavcodec. Each behaves in its own way: code that
/// depends on the library switches over all of them.
package enum SoftwareLibrary: String, Sendable, Hashable {
    case x264 = "libx264"
    case x265 = "libx265"

    /// The name of libavcodec's option that takes the library's own settings.
    var settingsOption: String {
        switch self {
        case .x264: "x264-params"
        case .x265: "x265-params"
        }
    }

    /// The number of reference pictures that the library takes if no picture is reordered.
    var maxReferences: Int {
        switch self {
        case .x264: 16
        case .x265: 8
        }
    }

    /// The number of pictures that the presets 1…7 look ahead.
    var lookaheads: [Int] {
        switch self {
        case .x264: [60, 60, 50, 40, 30, 10, 0]
        case .x265: [40, 40, 25, 20, 15, 15, 5]
        }
    }

    /// The setting that turns the propagation of quality along motion on and off.
    var treeSetting: String {
        switch self {
        case .x264: "mbtree"
        case .x265: "cutree"
        }
    }

    /// Whether slices of a limited number of bytes can be asked for.
    package var limitsSliceBytes: Bool {
        switch self {
        case .x264: true
        case .x265: false
        }
    }

    /// Whether the bit rate can change between two pictures. libavcodec's wrapper of libx265 passes no change on.
    var changesRate: Bool {
        switch self {
        case .x264: true
        case .x265: false
        }
    }

    /// The layout of 8-bit pictures that the library reads without converting.
    package var pixelFormat: PixelFormat {
        switch self {
        case .x264: .nv12
        case .x265: .i420
        }
    }

    /// The lowest constant QP: QP 0 of libx264 is lossless coding, which the High profile does not have.
    package var lowestQP: Int {
        switch self {
        case .x264: 1
        case .x265: 0
        }
    }
}

extension VideoCodec {
    /// The library that encodes this codec in software.
    package var softwareLibrary: SoftwareLibrary {
        switch self {
        case .h264: .x264
        case .hevc: .x265
        }
    }
}
