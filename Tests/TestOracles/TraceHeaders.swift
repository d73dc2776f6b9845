internal import CTestOracles

/// The syntax elements of a stream's headers, as FFmpeg's trace_headers reads them.
public struct TraceHeaders: Sendable {
    /// One NAL unit or payload: its name (`Sequence Parameter Set`, `Slice Header`) and fields in stream order.
    public struct Unit: Sendable {
        public var name: String
        public var fields: [(name: String, value: Int)]

        /// The first field of that name.
        public subscript(_ name: String) -> Int? { fields.first { $0.name == name }?.value }
    }

    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    public var units: [Unit]

    /// Every value of a field, in stream order.
    public subscript(_ field: String) -> [Int] {
        units.flatMap { $0.fields.filter { $0.name == field }.map(\.value) }
    }

    /// The units of that name, in stream order.
    public func units(named name: String) -> [Unit] { units.filter { $0.name == name } }

    /// Reads an elementary stream's headers by running ffmpeg.
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
    /// - Throws: `Failure` with what FFmpeg warns of.
    public init(stream: [UInt8], codec: String = "h264") throws {
        // SAFETY: the C side reads `count` bytes during the call; its result owns its memory until it is freed.
        var result = unsafe stream.withUnsafeBufferPointer {
            unsafe vaenc_oracle_trace_headers(codec, $0.baseAddress, $0.count)
        }
        defer { unsafe vaenc_oracle_free(&result) }
        if let messages = unsafe result.messages { throw Failure(description: unsafe String(cString: messages)) }
        let log = unsafe Array(UnsafeBufferPointer(start: result.bytes, count: result.size))
        self.init(lines: log.split(separator: Self.newline))
    }

    /// Reads trace_headers' log. Its lines are `[trace_headers @ 0x…] POSITION NAME BITS = VALUE`, and a unit's name alone.
    public init(log: String) {
        let prefix = Array("[trace_headers @ ".utf8)
        self.init(
            lines: Array(log.utf8).split(separator: Self.newline).compactMap { line in
                guard line.starts(with: prefix), let end = line.firstIndex(of: UInt8(ascii: "]")) else { return nil }
                return line[(end + 1)...]
            })
    }

    private static let newline = UInt8(ascii: "\n")

    /// Reads lines without the log's prefix. As bytes: there are thousands of them to a stream, and characters of text
    /// take their time.
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
                // Arrays are written name[0][1]: the name with its index is the field's.
                units[units.count - 1].fields.append((String(decoding: words[1], as: UTF8.self), value))
            } else if let first = text.first, first < 0x80, Character(Unicode.Scalar(first)).isLetter {
                units.append(Unit(name: String(decoding: text, as: UTF8.self), fields: []))
            }
        }
    }

    /// A decimal number with or without a sign.
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
