/// Cameras without a kernel: a library for LD_PRELOAD that plays them (Tests/FakeCamera, which says what they can be
/// told).
public enum FakeCameras {
    private static let library = Result { try PreloadedLibrary.compile("FakeCamera/camera.c", libraries: ["-lpthread"]) }

    /// What a program's environment must have to see the cameras.
    public static func environment(_ cameras: String) throws -> [String: String?] {
        ["LD_PRELOAD": PreloadedLibrary.variable([try library.get()]), "FAKE_CAMERAS": cameras]
    }

    /// The number that a camera has drawn into a picture; -1 where it is none of its.
    public static func number(of frame: PlanarFrame) -> Int {
        let row = frame.height / 8
        var number = 0
        for bit in 0..<16 {
            let luma = frame.bytes[row * frame.width + (bit * 2 + 1) * frame.width / 32]
            if luma > 80, luma < 170 { return -1 }
            number = number * 2 + (luma > 125 ? 1 : 0)
        }
        return number
    }

    /// The picture that a camera draws, as I420.
    public static func picture(_ number: Int, width: Int, height: Int, base: Int = 100) -> PlanarFrame {
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let isBit = y < height / 4
                let bit = number >> (15 - x * 16 / width) & 1
                bytes.append(UInt8(isBit ? (bit == 1 ? 220 : 30) : base + ((x + y + number * 2) & 31)))
            }
        }
        let half = width / 2 * (height / 2)
        bytes += [UInt8](repeating: UInt8(base + 10), count: half) + [UInt8](repeating: UInt8(200 - base / 2), count: half)
        return PlanarFrame(width: width, height: height, bytes: bytes)!
    }
}
