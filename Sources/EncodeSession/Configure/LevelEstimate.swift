import EncodePlanning
import VideoBase

/// What a stream may take whose rate nobody limits, so that its level is one that it keeps to.
///
/// x264 and FFmpeg choose such a stream's level by its size alone, and it then breaks the level's bit rate. Bits of a
/// macroblock are bounded at 3200 (H.264 A.3.1), which few contents come near: taken is half as much again as the
/// hardest of three clips has at that QP (176×144, a talking head before a moving landscape; QP 42 and 48 are guessed),
/// less for larger pictures, whose parts have less in them.
struct LevelEstimate: Sendable, Hashable {
    /// Bits per second.
    var bitrate: Int
    /// Bits of an intra picture.
    var intraPicture: Int

    /// Of a macroblock in a picture of 99, at QP 0, 6, …, 48.
    private static let interBits: [Double] = [1493, 987, 519, 245, 111, 47, 18, 8, 4]
    /// The same where every picture is intra.
    private static let intraBits: [Double] = [2379, 2067, 1443, 953, 611, 378, 224, 112, 56]

    /// - Parameters:
    ///   - qp: of P pictures; I pictures are finer as by default.
    ///   - share: what the codec takes of H.264's bits.
    init(qp: Int, keyInterval: Int, _ grid: BlockGrid, share codec: Double = 1, frameRate: Rational) {
        let macroblocks = Double(grid.areas)
        // The fourth root.
        let scale = (99 / macroblocks).squareRoot().squareRoot() * codec
        func bits(_ table: [Double]) -> Double {
            let place = min(max(Double(qp) / 6, 0), Double(table.count - 1))
            let index = min(Int(place), table.count - 2)
            let share = place - Double(index)
            return min((table[index] * (1 - share) + table[index + 1] * share) * scale, 3200)
        }
        let (intra, inter) = (bits(Self.intraBits), bits(Self.interBits))
        let mean = inter + (intra - inter) / Double(max(keyInterval, 1))
        bitrate = Int(min(mean * macroblocks * frameRate.value, 1e15))
        intraPicture = Int(intra * macroblocks)
    }

    /// Whether the level's limits of coded slices hold it.
    func fits(_ level: StreamLevel) -> Bool { level.holdsSlices(bitrate: bitrate, intraPicture: intraPicture) }
}
