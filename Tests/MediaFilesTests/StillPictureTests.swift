import MediaFiles
import TestOracles
import Testing
import VideoBase

/// Photos judged by ffmpeg.
@Suite struct StillPictureTests {
    private static let size = VideoSize(width: 64, height: 48)

    /// Returns a white picture of limited range in the layout.
    private static func white(_ format: PixelFormat) throws -> SystemPixelBuffer {
        let buffer = try SystemPixelBuffer(format: format, size: size)
        let halves = [.nv12, .i420, .yv12, .p010, .i420p10].contains(format)
        try unsafe buffer.withUnsafePlanes { planes in
            for plane in 0..<format.planeCount {
                let pattern: [UInt8] =
                    switch format {
                    case .yuyv: [235, 128]
                    case .uyvy: [128, 235]
                    case .p010: plane == 0 ? [0, 235] : [0, 128]
                    case .i420p10: plane == 0 ? [0xAC, 3] : [0, 2]
                    default: plane == 0 ? [235] : [128]
                    }
                let count = unsafe planes.pitch(plane) * (plane > 0 && halves ? size.height / 2 : size.height)
                let bytes = unsafe planes.base(plane)
                for index in 0..<count { unsafe bytes.storeBytes(of: pattern[index % pattern.count], toByteOffset: index, as: UInt8.self) }
            }
        }
        return buffer
    }

    /// White of limited range is white in both formats. JPEG has the full range (JFIF), whatever the input's layout and
    /// matrix are.
    @Test(arguments: [PixelFormat.nv12, .i420, .yv12, .yuyv, .uyvy, .i422, .i444, .p010, .i420p10], [UInt8(1), 2, 6])
    func whiteOfLimitedRangeIsWhite(_ format: PixelFormat, _ matrix: UInt8) throws {
        try Files.withTemporaryFolder { folder in
            let kinds = [StillPicture.Format.jpeg, .png]
            for kind in kinds {
                let color = ColorDescription(matrix: matrix, fullRange: matrix == 1 ? false : nil)
                _ = try StillPicture("\(folder)/a.\(kind.rawValue)", format: kind, overwrite: false)
                    .write(Self.white(format), color: color)
            }
            let inputs = kinds.flatMap { ["-i", "a.\($0.rawValue)"] }
            let outputs = kinds.enumerated().flatMap {
                ["-map", "\($0.offset)", "-f", "rawvideo", "-pix_fmt", "rgb24", "\($0.element.rawValue).rgb"]
            }
            let shown = try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin"] + inputs + outputs, directory: folder)
            #expect(shown.status == 0, "\(shown.errors)")
            for kind in kinds {
                let samples = try Files.read("\(folder)/\(kind.rawValue).rgb")
                #expect(samples.count == Self.size.width * Self.size.height * 3)
                #expect(samples.min() ?? 0 >= 252, "\(kind): \(samples.min() ?? 0)")
            }
        }
    }
}
