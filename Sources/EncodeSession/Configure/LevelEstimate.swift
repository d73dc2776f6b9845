import EncodePlanning
import VideoBase

/// Estimates the bit rate of a stream without a rate limit, so that the stream keeps within its level.
///
/// x264 and FFmpeg choose the level of these streams by size alone; the stream then exceeds the level's bit rate. A
/// macroblock has at most 3200 bits (H.264 A.3.1), but few streams come near that. The estimate is 1.5 times the bits
/// of the hardest of three clips at that QP (176×144, a talking head before a moving landscape; QP 42 and 48 are
/// guessed). It is lower for larger pictures, because their macroblocks contain less detail.
struct LevelEstimate: Sendable, Hashable {
    /// Bits per second.
    var bitrate: Int
    /// Bits of an intra picture.
    var intraPicture: Int

    /// Bits of a macroblock in a picture of 99 macroblocks, at QP 0, 6, …, 48.
    private static let interBits: [Double] = [1493, 987, 519, 245, 111, 47, 18, 8, 4]
    /// Bits of a macroblock in a picture of 99 macroblocks if every picture is intra, at QP 0, 6, …, 48.
    private static let intraBits: [Double] = [2379, 2067, 1443, 953, 611, 378, 224, 112, 56]

    /// Estimates the rate of a stream.
    ///
    /// - Parameters:
    ///   - qp: The QP of P pictures. I pictures are assumed finer by the default offset.
    ///   - codec: The codec's bits relative to H.264.
    init(qp: Int, keyInterval: Int, _ grid: BlockGrid, share codec: Double = 1, frameRate: Rational) {
        let macroblocks = Double(grid.areas)
        // The fourth root of the size ratio.
        let scale = (99 / macroblocks).squareRoot().squareRoot() * codec
        func bits(_ table: [Double]) -> Double {
            let position = min(max(Double(qp) / 6, 0), Double(table.count - 1))
            let index = min(Int(position), table.count - 2)
            let share = position - Double(index)
            return min((table[index] * (1 - share) + table[index + 1] * share) * scale, 3200)
        }
        let (intra, inter) = (bits(Self.intraBits), bits(Self.interBits))
        let mean = inter + (intra - inter) / Double(max(keyInterval, 1))
        bitrate = Int(min(mean * macroblocks * frameRate.value, 1e15))
        intraPicture = Int(intra * macroblocks)
    }

    /// Whether the stream keeps within the level's limits on coded slices.
    func fits(_ level: StreamLevel) -> Bool { level.holdsSlices(bitrate: bitrate, intraPicture: intraPicture) }
}
