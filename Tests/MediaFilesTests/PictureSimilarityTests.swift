import MediaFiles
import TestOracles
import Testing
import VideoBase

/// SSIM compared with FFmpeg's filter, with sizes that are no multiple of its windows.
@Suite struct PictureSimilarityTests {
    private static func picture(_ size: VideoSize, seed: UInt32, noise: UInt32) -> [UInt8] {
        var state = seed
        let count = PixelFormat.i420.frameBytes(size)
        return (0..<count).map { index in
            state = state &* 1_664_525 &+ 1_013_904_223
            let smooth = UInt32(index % size.width * 2 + index / size.width)
            return UInt8(truncatingIfNeeded: min(255, smooth % 200 + (noise == 0 ? 0 : state >> 16 % noise)))
        }
    }

    private static func buffer(_ bytes: ArraySlice<UInt8>, _ size: VideoSize) throws -> SystemPixelBuffer {
        let buffer = try SystemPixelBuffer(format: .i420, size: size)
        var rest = bytes
        try unsafe buffer.withUnsafePlanes { planes in
            for plane in 0..<3 {
                let width = PixelFormat.i420.rowBytes(plane: plane, width: size.width)
                for row in 0..<PixelFormat.i420.rows(plane: plane, height: size.height) {
                    let target = unsafe UnsafeMutableRawBufferPointer(
                        start: planes.base(plane) + row * planes.pitch(plane), count: width)
                    unsafe target.copyBytes(from: rest.prefix(width))
                    rest = rest.dropFirst(width)
                }
            }
        }
        return buffer
    }

    @Test(arguments: ["64x48", "66x50", "70x38", "35x29"]) func ssimMatchesFFmpegs(_ text: String) throws {
        let size = try #require(VideoSize(text))
        let frames = 3
        let a = (0..<frames).flatMap { Self.picture(size, seed: UInt32($0), noise: 0) }
        let b = (0..<frames).flatMap { Self.picture(size, seed: UInt32($0 + 7), noise: [40, 9, 90][$0]) }
        try Files.withTemporaryFolder { folder in
            try Files.write(a, to: folder + "/a.yuv")
            try Files.write(b, to: folder + "/b.yuv")
            let input = { (name: String) in
                ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", text, "-i", "\(folder)/\(name).yuv"]
            }
            let result = try ProcessRunner.run(
                "ffmpeg", ["-nostdin", "-v", "info"] + input("a") + input("b") + ["-lavfi", "ssim", "-f", "null", "-"])
            let line = try #require(result.errors.split(separator: "\n").last { $0.contains("SSIM Y:") })
            let theirs = ["Y:", "U:", "V:", "All:"].compactMap { key in
                line.firstRange(of: key).flatMap { Double(line[$0.upperBound...].prefix { $0 != " " }) }
            }
            #expect(theirs.count == 4)
            var ours = PictureSimilarity()
            let bytes = a.count / frames
            for frame in 0..<frames {
                let range = frame * bytes..<(frame + 1) * bytes
                let first = try Self.buffer(a[range], size), second = try Self.buffer(b[range], size)
                try unsafe first.withUnsafePlanes { x in try unsafe second.withUnsafePlanes { unsafe try ours.add(x, $0) } }
            }
            for (mine, other) in zip((0..<3).map { ours.ssim(plane: $0) } + [ours.ssimOfAll], theirs) {
                #expect(abs(mine - other) < 1e-4, "\(mine) \(other)")
            }
            #expect(theirs[0] < 0.99)
        }
    }

    @Test func pixelFormatsHaveEqualSSIM() throws {
        let size = VideoSize(width: 64, height: 48)
        let a = try Self.buffer(Self.picture(size, seed: 1, noise: 0)[...], size)
        let b = try Self.buffer(Self.picture(size, seed: 2, noise: 30)[...], size)
        let pairs = try SystemPixelBuffer(format: .nv12, size: size)
        try unsafe b.withUnsafePlanes { from in
            try unsafe pairs.withUnsafePlanes { to in
                for row in 0..<48 { unsafe (to.base(0) + row * to.pitch(0)).copyMemory(from: from.base(0) + row * from.pitch(0), byteCount: 64) }
                for row in 0..<24 {
                    for x in 0..<32 {
                        for plane in 1...2 {
                            let value = unsafe from.base(plane).load(fromByteOffset: row * from.pitch(plane) + x, as: UInt8.self)
                            unsafe to.base(1).storeBytes(of: value, toByteOffset: row * to.pitch(1) + 2 * x + plane - 1, as: UInt8.self)
                        }
                    }
                }
            }
        }
        var planar = PictureSimilarity(), mixed = PictureSimilarity()
        try unsafe a.withUnsafePlanes { x in
            try unsafe b.withUnsafePlanes { unsafe try planar.add(x, $0) }
            try unsafe pairs.withUnsafePlanes { unsafe try mixed.add(x, $0) }
        }
        #expect(planar == mixed)
    }
}
