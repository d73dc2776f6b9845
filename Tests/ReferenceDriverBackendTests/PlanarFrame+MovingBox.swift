import TestOracles

extension PlanarFrame {
    /// Returns pictures of a box that moves over a still background; `seed` selects the content.
    static func movingBox(_ count: Int, width: Int, height: Int, seed: UInt64) -> [PlanarFrame] {
        (0..<count).map { index in
            var generator = SplitMix64(state: seed)
            var bytes: [UInt8] = []
            for y in 0..<height {
                for x in 0..<width {
                    let ground = Int.random(in: 0...15, using: &generator) + (x * Int(seed % 5 + 1) + y) % 128
                    let isBox = abs(x - 5 * index % 128) < 14 && abs(y - height / 2) < 20
                    bytes.append(UInt8(isBox ? 230 - ground / 2 : 40 + ground))
                }
            }
            for i in 0..<width * height / 2 { bytes.append(UInt8(100 + (i + 3 * index) % 50)) }
            return PlanarFrame(width: width, height: height, bytes: bytes)!
        }
    }
}
