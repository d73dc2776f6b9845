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
        let log = unsafe String(decoding: UnsafeBufferPointer(start: result.bytes, count: result.size), as: UTF8.self)
        self.init(lines: log.split(separator: "\n"))
    }

    /// Reads trace_headers' log. Its lines are `[trace_headers @ 0x…] POSITION NAME BITS = VALUE`, and a unit's name alone.
    public init(log: String) {
        self.init(
            lines: log.split(separator: "\n").compactMap { line in
                guard line.hasPrefix("[trace_headers @ "), let end = line.firstIndex(of: "]") else { return nil }
                return line[line.index(after: end)...]
            })
    }

    /// Reads lines without the log's prefix.
    private init(lines: [Substring]) {
        units = []
        for line in lines {
            let text = line.drop { $0 == " " }
            let words = text.split(separator: " ")
            if words.count >= 4, Int(words[0]) != nil, words[words.count - 2] == "=",
                let value = Int(words[words.count - 1])
            {
                if units.isEmpty { units.append(Unit(name: "", fields: [])) }
                // Arrays are written name[0][1]: the name with its index is the field's.
                units[units.count - 1].fields.append((String(words[1]), value))
            } else if !text.isEmpty, text.first!.isLetter {
                units.append(Unit(name: String(text), fields: []))
            }
        }
    }
}
