/// Cameras without a kernel driver: a library for LD_PRELOAD that simulates them (Tests/FakeCamera, which documents
/// their settings).
public enum FakeCameras {
    private static let library = Result { try PreloadedLibrary.compile("FakeCamera/camera.c", libraries: ["-lpthread"]) }

    /// Returns the environment in which a program sees the cameras.
    ///
    /// - Parameter cameras: The value of FAKE_CAMERAS.
    public static func environment(_ cameras: String) throws -> [String: String?] {
        ["LD_PRELOAD": PreloadedLibrary.variable([try library.get()]), "FAKE_CAMERAS": cameras]
    }

    /// Returns the number that a camera has drawn into a picture; -1 if the picture contains none.
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

    /// Returns the picture with a number that a camera draws, as I420.
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
