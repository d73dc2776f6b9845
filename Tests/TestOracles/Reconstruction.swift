/// The pictures that the reference driver wrote through VAENC_REFERENCE_RECON, as it reconstructed them.
public struct Reconstruction: Sendable {
    /// The driver's description of one picture.
    public struct Picture: Sendable, Hashable {
        /// The index in coding order, from 0.
        public var index: Int
        /// The type as the driver wrote it: `I`, `IDR`, `P` or `B`.
        public var type: String
        /// The picture order count.
        public var poc: Int
        /// The QP.
        public var qp: Int
        /// The size of the picture's coded data.
        public var bytes: Int
    }

    /// A file that does not have the expected form.
    public struct Malformed: Error, CustomStringConvertible {
        /// The file or line, and the reason.
        public var description: String
    }

    /// The descriptions in coding order.
    public var pictures: [Picture]
    /// The pictures in coding order.
    public var frames: [PlanarFrame]

    /// Reads `path` and `path.txt`, for pictures of one size and depth.
    ///
    /// - Throws: `Malformed`, or `Files.Failure`.
    public init(path: String, width: Int, height: Int, bitDepth: Int = 8) throws {
        let bytes = try Files.read(path)
        guard let frames = PlanarFrame.split(bytes, width: width, height: height, bitDepth: bitDepth) else {
            throw Malformed(
                description: "\(path): \(bytes.count) bytes are no whole number of \(width)×\(height) frames")
        }
        let text = String(decoding: try Files.read(path + ".txt"), as: UTF8.self)
        try self.init(frames: frames, text: text)
    }

    /// Parses a description with one line per picture: index, type, POC, QP, bytes.
    ///
    /// - Throws: `Malformed` if a line is invalid, or if there are not as many lines as frames.
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

    /// The frames in output order: by POC between IDR pictures (H.264 C.4.5.2, H.265 C.5.2).
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
