import Glibc
import Vaenc

/// Decodes NAL units, one at a time and each with its start code, into a Y4M file.
func decode(_ input: String, _ output: String) async throws {
    var configuration = DecompressionConfiguration(codec: try MediaOutput.format(of: input).codec ?? .h264)
    configuration.pixelFormat = .i420
    let session = try DecompressionSession(configuration: configuration, device: .auto)
    defer { session.invalidate() }
    let writer = Task {
        var sink: PictureSink?
        for try await result in session.outputs {
            switch result {
            case .frame(let frame):
                let info = SourceInfo(size: frame.buffer.size, frameRate: Rational(25), nativeFormat: .i420, kind: "decoded")
                let file = try sink ?? PictureSink(output, of: info, overwrite: false)
                sink = file
                try unsafe frame.buffer.withUnsafePlanes { unsafe try file.write($0) }
            case .skipped(let picture): print("picture \(picture.index) is skipped: \(picture.reason)")
            }
        }
        try sink?.finish()
    }
    guard let file = unsafe fopen(input, "rb") else { throw VaencError(.noInput, "cannot open \(input)") }
    defer { _ = unsafe fclose(file) }
    var splitter = AnnexBSplitter(), units: [[UInt8]] = []
    var piece = [UInt8](repeating: 0, count: 65536)
    while case let count = unsafe fread(&piece, 1, piece.count, file), count > 0 {
        try splitter.append(piece[..<count]) { unit, _ in units.append([UInt8](unit)) }
    }
    try splitter.finish { unit, _ in units.append([UInt8](unit)) }
    for (index, unit) in units.enumerated() {
        let time = MediaTime(value: Int64(index), timescale: 25)
        try await session.decode(unit: AnnexB.startCode + unit, presentation: time)
    }
    try await session.finish()
    session.invalidate()
    try await writer.value
}
