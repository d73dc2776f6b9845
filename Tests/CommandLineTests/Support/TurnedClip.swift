import TestOracles
import Testing

/// MP4 files with a rotation, which FFmpeg's program writes only if its input has one.
enum TurnedClip {
    /// Sets the first track's rotation to 90° clockwise.
    static func turn(_ path: String) throws {
        var bytes = try Files.read(path)
        let header = Array("tkhd".utf8)
        let offset = try #require((0..<bytes.count - 80).first { bytes[$0..<$0 + 4].elementsEqual(header) })
        // The matrix is 40 bytes after the box type (ISO/IEC 14496-12 8.3.2).
        let matrix: [Int32] = [0, 0x10000, 0, -0x10000, 0, 0, 48 << 16, 0, 0x4000_0000]
        let raw = matrix.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * Int32($0))) } }
        bytes.replaceSubrange(offset + 44..<offset + 80, with: raw)
        try Files.write(bytes, to: path)
    }

    /// Returns the rotation that ffprobe reports: -90, or an empty string.
    static func rotation(_ path: String) throws -> String {
        try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", "v:0", "-show_entries", "stream_side_data=rotation", "-of", "csv=p=0", path]
        ).output.filter { $0.isNumber || $0 == "-" }
    }
}
