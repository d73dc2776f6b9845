import Glibc
import VideoBase

/// Draws the foreground of the test pattern: a rotating hand and the number of the picture.
// SAFETY: the planes are NV12 and valid while one picture is drawn. `fill` clips every rectangle to the picture.
@safe struct PatternOverlay {
    private let planes: PixelPlanes
    private let size: VideoSize
    /// The side of a digit's dot, in samples.
    private let dot: Int

    init(planes: PixelPlanes) {
        unsafe self.planes = planes
        unsafe size = planes.size
        dot = max(1, min(size.height / 90, size.width / 60)) * 2
    }

    /// Fills a rectangle, clipped to the picture, with a gray.
    private func fill(x: Int, y: Int, width: Int, height: Int, luma: UInt8) {
        let left = max(0, x), right = min(size.width, x + width)
        let top = max(0, y), bottom = min(size.height, y + height)
        guard left < right, top < bottom else { return }
        for row in top..<bottom {
            let start = unsafe planes.base(0) + row * planes.pitch(0) + left
            _ = unsafe start.initializeMemory(as: UInt8.self, repeating: luma, count: right - left)
        }
        let first = left / 2 * 2
        for row in top / 2..<(bottom + 1) / 2 {
            let start = unsafe planes.base(1) + row * planes.pitch(1) + first
            _ = unsafe start.initializeMemory(as: UInt8.self, repeating: 128, count: (right - first + 1) / 2 * 2)
        }
    }

    /// Draws a hand of small squares that rotates around the center once in 64 pictures.
    func drawHand(_ index: Int) {
        let radius = min(size.width, size.height) / 4
        let angle = Double(index % 64) / 64 * 2 * Double.pi
        let steps = max(1, radius / dot)
        for step in 0...steps {
            let length = Double(radius * step / steps)
            let x = size.width / 2 + Int(length * sin(angle))
            let y = size.height / 2 - Int(length * cos(angle))
            fill(x: x - dot, y: y - dot, width: dot * 2, height: dot * 2, luma: step % 2 == 0 ? 235 : 40)
        }
    }

    /// Draws the number at the top left, in digits of 3 by 5 dots on black.
    func drawNumber(_ index: Int) {
        // Rows of three bits, from the top.
        let digits: [[UInt8]] = [
            [7, 5, 5, 5, 7], [2, 6, 2, 2, 7], [7, 1, 7, 4, 7], [7, 1, 7, 1, 7], [5, 5, 7, 1, 1], [7, 4, 7, 1, 7],
            [7, 4, 7, 5, 7], [7, 1, 2, 2, 2], [7, 5, 7, 5, 7], [7, 5, 7, 1, 7],
        ]
        let text = Array(String(index + 100_000).utf8.suffix(5))
        let dot = self.dot
        fill(x: dot, y: dot, width: (text.count * 4 + 1) * dot, height: 7 * dot, luma: 16)
        for (position, character) in text.enumerated() {
            for (row, bits) in digits[Int(character) - 48].enumerated() {
                for column in 0..<3 where bits >> (2 - column) & 1 == 1 {
                    fill(x: (2 + position * 4 + column) * dot, y: (2 + row) * dot, width: dot, height: dot, luma: 235)
                }
            }
        }
    }
}
