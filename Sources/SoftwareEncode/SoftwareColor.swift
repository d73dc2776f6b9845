package import VideoBase

/// The color code points that the libraries write. libx265 does not open with others, and libx264 writes 2 instead.
package enum SoftwareColor {
    // The highest supported code points of ITU-T H.273.
    package static let primaries = 12
    package static let transfer = 18
    package static let matrix = 14

    /// Returns the code points of one field in ascending order. The value 3 is reserved in each field, and libx265
    /// rejects it.
    package static func codes(_ codec: VideoCodec, upTo highest: Int) -> [Int] {
        switch codec.softwareLibrary {
        case .x264: Array(0...highest)
        case .x265: (0...highest).filter { $0 != 3 }
        }
    }
}

extension EncoderSettings {
    /// Maps the color description. Code points that the library does not write are replaced by 2 (unspecified).
    mutating func mapColor() {
        color.primaries = written("color.primaries", color.primaries, upTo: SoftwareColor.primaries)
        color.transfer = written("color.transfer", color.transfer, upTo: SoftwareColor.transfer)
        color.matrix = written("color.matrix", color.matrix, upTo: SoftwareColor.matrix)
    }

    private mutating func written(_ option: String, _ code: UInt8, upTo highest: Int) -> UInt8 {
        if SoftwareColor.codes(codec, upTo: highest).contains(Int(code)) { return code }
        report(
            option, asked: code, used: "2",
            why: "\(encoderName) does not write this code point of ITU-T H.273: 2 means unspecified")
        return 2
    }
}
