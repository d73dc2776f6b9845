import Glibc
import VideoBase

/// Numbered pictures in one folder, named by a pattern such as `img%03d.png`, as libavformat's demuxer image2 reads
/// them. The pattern has one number, `%d` or with a width, such as `%03d`, and `%%` for a percent sign.
struct ImageSequence: Sendable {
    /// The extensions of formats whose files contain one picture each.
    private static let endings: Set<String> = [
        "png", "jpg", "jpeg", "bmp", "tif", "tiff", "webp", "ppm", "pgm", "pbm", "pnm", "pam", "pfm", "tga", "exr", "dpx", "sgi", "jp2", "j2k",
        "jxl", "qoi", "hdr", "pcx", "pgmyuv", "ras", "sun", "xbm", "xwd",
    ]
    private static let percent = UInt8(ascii: "%")
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    /// libavformat formats a number in a buffer of 20 bytes.
    private static let widthLimit = 18

    /// The name of the first picture.
    let firstName: String
    /// The pattern for libavformat. Percent signs in the folder's name are escaped. The name begins with `file:`, so
    /// that libavformat does not take the part before a colon for a protocol.
    let demuxerName: String
    private let firstNumber: Int
    /// The options of the demuxer image2.
    var demuxerOptions: [(name: String, value: String)] { [("pattern_type", "sequence"), ("start_number", "\(firstNumber)")] }

    /// Finds the pictures. Returns nil if the name is no pattern for pictures, or no such picture exists.
    /// - Throws: `badInput` if a number between the first and the last is missing. libavformat would end there.
    init?(pattern: String) throws {
        guard Self.holdsPictures(pattern) else { return nil }
        let bytes = FileName.cString(pattern).dropLast().map { UInt8(bitPattern: $0) }
        let fileStart = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        guard let template = Template(bytes[fileStart...]) else { return nil }
        let folder = Array(bytes[..<fileStart])
        let numbers = Self.names(in: folder.isEmpty ? "." : FileName.string(folder)).compactMap(template.number).sorted()
        guard let first = numbers.first, let last = numbers.last else { return nil }
        if let gap = zip(numbers, numbers.dropFirst()).first(where: { $1 - $0 > 1 }) {
            let missing = FileName.string(folder + template.name(gap.0 + 1))
            throw VaencError(
                .badInput, "\(pattern) is not complete: there are pictures from \(first) to \(last), but \(missing) is missing",
                remedy: "number the pictures without gaps, or pipe them in with - as the input")
        }
        firstNumber = first
        firstName = FileName.string(folder + template.name(first))
        demuxerName = FileName.string(Array("file:".utf8) + Self.escaped(folder) + template.pattern)
    }

    /// Whether a name's extension is that of one picture.
    static func holdsPictures(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return endings.contains(name[name.index(after: dot)...].lowercased())
    }

    private static func escaped(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap { $0 == percent ? [percent, percent] : [$0] } }

    /// Returns the names in a folder; none if it cannot be read.
    private static func names(in folder: String) -> [[UInt8]] {
        // SAFETY: opendir reads the string during the call.
        guard let directory = unsafe opendir(FileName.cString(folder)) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [[UInt8]] = []
        while let entry = unsafe readdir(directory) {
            // SAFETY: `d_name` is a C string inside the entry, which is valid until the next readdir.
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            names.append(name)
        }
        return names
    }

    /// A file name with a number in it.
    private struct Template {
        private var prefix: [UInt8] = []
        private var suffix: [UInt8] = []
        /// The smallest number of digits.
        private var width = 0

        /// Parses a name. Returns nil if the name contains no number, several numbers, or another conversion.
        init?(_ name: ArraySlice<UInt8>) {
            var rest = name
            var hasNumber = false
            while let byte = rest.popFirst() {
                if byte == ImageSequence.percent {
                    let digits = rest.prefix { ImageSequence.digits.contains($0) }
                    rest = rest.dropFirst(digits.count)
                    guard let conversion = rest.popFirst() else { return nil }
                    if conversion == UInt8(ascii: "d"), !hasNumber {
                        guard let count = digits.isEmpty ? 0 : Int(String(decoding: digits, as: UTF8.self)), count <= ImageSequence.widthLimit else {
                            return nil
                        }
                        (width, hasNumber) = (count, true)
                        continue
                    }
                    guard conversion == ImageSequence.percent, digits.isEmpty else { return nil }
                }
                if hasNumber { suffix.append(byte) } else { prefix.append(byte) }
            }
            if !hasNumber { return nil }
        }

        /// The name as a pattern for libavformat.
        var pattern: [UInt8] {
            ImageSequence.escaped(prefix) + Array("%0\(width)d".utf8) + ImageSequence.escaped(suffix)
        }

        /// Returns the name with a number.
        func name(_ number: Int) -> [UInt8] {
            let digits = Array("\(number)".utf8)
            return prefix + [UInt8](repeating: UInt8(ascii: "0"), count: max(0, width - digits.count)) + digits + suffix
        }

        /// Returns the number in a name; nil if the name does not match.
        func number(_ name: [UInt8]) -> Int? {
            guard name.count > prefix.count + suffix.count, name.starts(with: prefix), name.suffix(suffix.count).elementsEqual(suffix)
            else { return nil }
            let digits = name[prefix.count..<name.count - suffix.count]
            // The demuxer counts in 32 bits, and looks for numbers after the last.
            guard digits.allSatisfy({ ImageSequence.digits.contains($0) }), let number = Int(String(decoding: digits, as: UTF8.self)),
                number < 1 << 29, self.name(number) == name
            else { return nil }
            return number
        }
    }
}

extension MediaInput {
    /// Whether a name is that of one picture, such as `img001.png`.
    package static func isPicture(_ name: String) -> Bool { ImageSequence.holdsPictures(name) }
}
