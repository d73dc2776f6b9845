internal import CTestOracles

/// The syntax elements of a stream's headers, as FFmpeg's trace_headers reads them.
public struct TraceHeaders: Sendable {
    /// One NAL unit or payload.
    public struct Unit: Sendable {
        /// The name, such as `Sequence Parameter Set` or `Slice Header`.
        public var name: String
        /// The fields in stream order.
        public var fields: [(name: String, value: Int)]

        /// The value of the first field with a name; nil if there is none.
        public subscript(_ name: String) -> Int? { fields.first { $0.name == name }?.value }
    }

    /// A trace that failed.
    public struct Failure: Error, CustomStringConvertible {
        /// FFmpeg's messages.
        public var description: String
    }

    /// The NAL units and payloads in stream order.
    public var units: [Unit]

    /// The values of all fields with a name, in stream order.
    public subscript(_ field: String) -> [Int] {
        units.flatMap { $0.fields.filter { $0.name == field }.map(\.value) }
    }

    /// Returns the units with a name, in stream order.
    public func units(named name: String) -> [Unit] { units.filter { $0.name == name } }

    /// Reads an elementary stream's headers by running ffmpeg.
    ///
    /// - Throws: `Failure` with ffmpeg's output if ffmpeg fails.
    public init(path: String, codec: String = "h264") throws {
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-nostdin", "-hide_banner", "-f", codec, "-i", path, "-c:v", "copy", "-bsf:v", "trace_headers", "-f",
                "null", "-",
            ])
        guard result.status == 0 else { throw Failure(description: result.errors) }
        self.init(log: result.errors)
    }

    /// Reads an elementary stream's headers in this process.
    ///
    /// - Throws: `Failure` with FFmpeg's warnings.
    public init(stream: [UInt8], codec: String = "h264") throws {
        // SAFETY: the C function reads `count` bytes during the call; its result owns its memory until it is freed.
        var result = unsafe stream.withUnsafeBufferPointer {
            unsafe vaenc_oracle_trace_headers(codec, $0.baseAddress, $0.count)
        }
        defer { unsafe vaenc_oracle_free(&result) }
        if let messages = unsafe result.messages { throw Failure(description: unsafe String(cString: messages)) }
        let log = unsafe Array(UnsafeBufferPointer(start: result.bytes, count: result.size))
        self.init(lines: log.split(separator: Self.newline))
    }

    /// Parses the log of trace_headers. Its lines are `[trace_headers @ 0x…] POSITION NAME BITS = VALUE`, or only the
    /// name of a unit.
    public init(log: String) {
        let prefix = Array("[trace_headers @ ".utf8)
        self.init(
            lines: Array(log.utf8).split(separator: Self.newline).compactMap { line in
                guard line.starts(with: prefix), let end = line.firstIndex(of: UInt8(ascii: "]")) else { return nil }
                return line[(end + 1)...]
            })
    }

    private static let newline = UInt8(ascii: "\n")

    /// Parses lines without the log's prefix. It works on bytes: a stream has thousands of lines, and processing them
    /// as text is slow.
    private init(lines: [ArraySlice<UInt8>]) {
        units = []
        for line in lines {
            let space = UInt8(ascii: " ")
            let text = line.drop { $0 == space }
            let words = text.split(separator: space)
            if words.count >= 4, Self.number(words[0]) != nil, words[words.count - 2].elementsEqual("=".utf8),
                let value = Self.number(words[words.count - 1])
            {
                if units.isEmpty { units.append(Unit(name: "", fields: [])) }
                // Arrays are written name[0][1]. The name with its index is the name of the field.
                units[units.count - 1].fields.append((String(decoding: words[1], as: UTF8.self), value))
            } else if let first = text.first, first < 0x80, Character(Unicode.Scalar(first)).isLetter {
                units.append(Unit(name: String(decoding: text, as: UTF8.self), fields: []))
            }
        }
    }

    /// Parses a decimal number with or without a minus sign.
    private static func number(_ word: ArraySlice<UInt8>) -> Int? {
        let isNegative = word.first == UInt8(ascii: "-")
        let digits = isNegative ? word.dropFirst() : word
        guard !digits.isEmpty, digits.count <= 18 else { return nil }
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = 10 * value + Int(digit - UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }
}
