/// What the reference driver wrote through VAENC_REFERENCE_RECON: every picture as it reconstructed it.
public struct Reconstruction: Sendable {
    public struct Picture: Sendable, Hashable {
        /// In coding order, from 0.
        public var index: Int
        /// `I`, `IDR`, `P`, `B`, as the driver wrote it.
        public var type: String
        public var poc: Int
        public var qp: Int
        /// Of the picture's coded data.
        public var bytes: Int
    }

    public struct Malformed: Error, CustomStringConvertible {
        public var description: String
    }

    /// In coding order, as `frames`.
    public var pictures: [Picture]
    public var frames: [PlanarFrame]

    /// Reads `path` and `path.txt` for pictures of one size and depth.
    public init(path: String, width: Int, height: Int, bitDepth: Int = 8) throws {
        let bytes = try Files.read(path)
        guard let frames = PlanarFrame.split(bytes, width: width, height: height, bitDepth: bitDepth) else {
            throw Malformed(
                description: "\(path): \(bytes.count) bytes are no whole number of \(width)×\(height) frames")
        }
        let text = String(decoding: try Files.read(path + ".txt"), as: UTF8.self)
        try self.init(frames: frames, text: text)
    }

    /// A line per picture: index, type, POC, QP, bytes.
    public init(frames: [PlanarFrame], text: String) throws {
        self.frames = frames
        pictures = try text.split(separator: "\n").map { line in
            let fields = line.split(separator: " ")
            guard fields.count >= 5, let index = Int(fields[0]), let poc = Int(fields[2]), let qp = Int(fields[3]),
                let bytes = Int(fields[4])
            else { throw Malformed(description: "not a picture's line: \(line)") }
            return Picture(index: index, type: String(fields[1]), poc: poc, qp: qp, bytes: bytes)
        }
        guard pictures.count == frames.count else {
            throw Malformed(description: "\(frames.count) pictures and \(pictures.count) lines")
        }
    }

    /// In output order: by POC between one IDR picture and the next (H.264 C.4.5.2, H.265 C.5.2).
    public var framesInOutputOrder: [PlanarFrame] {
        var result: [PlanarFrame] = []
        var group: [(poc: Int, frame: PlanarFrame)] = []
        func flush() {
            result += group.sorted { $0.poc < $1.poc }.map(\.frame)
            group = []
        }
        for (picture, frame) in zip(pictures, frames) {
            if picture.type.uppercased() == "IDR" { flush() }
            group.append((picture.poc, frame))
        }
        flush()
        return result
    }
}
