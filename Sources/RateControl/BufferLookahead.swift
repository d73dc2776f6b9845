/// Predicts whether the coming pictures keep within the limits, given the coded pictures and the pictures in flight.
struct BufferLookahead {
    private let controller: PictureRateController
    private let bitsInFlight: [Double]
    private let windows: [(limit: Double, count: Int, recent: [Double])]
    private let arriving: Double

    init(_ controller: PictureRateController) {
        self.controller = controller
        // A picture in flight may become larger than expected.
        bitsInFlight = controller.pending.map { $0.expectedBits * controller.model.uncertainty($0.picture.kind) * 1.2 }
        windows = controller.windows.map { (Double($0.limit), $0.count, $0.recent.map(Double.init)) }
        arriving = Double(controller.targets.maxBitrate) / controller.targets.framesPerSecond
    }

    /// The number of coming pictures to simulate: one second or the longest window, whichever is longer, between 2 and
    /// 120.
    private var horizon: Int {
        let longest = windows.map(\.count).max() ?? 0
        return min(max(Int(controller.targets.framesPerSecond), longest, 2), 120)
    }

    /// Whether this picture and those after it keep within every limit with that QP.
    ///
    /// - Parameter codedBits: The bits of this picture if it was already encoded once. The picture then begins a scene, and
    ///   the pictures after it are equally hard.
    func fits(_ picture: RatePicture, qp: Int, codedBits: Double? = nil) -> Bool {
        let model = controller.model
        let base = Double(qp) - controller.offsets[picture.kind]
        let own = codedBits ?? model.bits(picture.kind, qp: Double(qp)) * model.uncertainty(picture.kind)
        if let most = controller.targets.maxPictureBits, own > Double(most) * 0.95 { return false }
        // In natural video, a predicted picture takes about a sixth of the bits of an intra picture.
        let mean = max(model.meanBits(qp: base + 2, offsets: controller.offsets) * model.growth, (codedBits ?? 0) / 8)
        let intra = model.bits(BitModel.Kind.intra, qp: base + controller.offsets[0] + 2)
        return check(picture, own: own, reserveShare: codedBits == nil ? 1 : 0.5, later: { $0 ? intra : mean })
    }

    /// Returns the maximum number of bits for this picture that leaves the following pictures enough at the highest QP.
    ///
    /// - Parameter hardness: The factor by which the following pictures are harder than those so far.
    func ceiling(_ picture: RatePicture, hardness: Double = 1) -> Int {
        let model = controller.model
        let highest = Double(controller.targets.qpRange.upperBound)
        let mean = model.meanBits(qp: highest, offsets: [Double](repeating: 0, count: controller.offsets.count)) * 1.5 * hardness
        let intra = model.bits(BitModel.Kind.intra, qp: highest) * 1.2 * hardness
        var room = Double(controller.targets.maxPictureBits ?? .max)
        walk(picture, own: 0, later: { $0 ? intra : mean }) { left, _, _ in
            room = min(room, left)
            return true
        }
        return max(Int(min(room, 1e15)), 0)
    }

    private func check(_ picture: RatePicture, own: Double, reserveShare: Double, later: (Bool) -> Double) -> Bool {
        var fits = true
        walk(picture, own: own, later: later) { left, step, limit in
            fits = left >= reserve(step) * reserveShare * limit
            return fits
        }
        return fits
    }

    /// The share of a limit to leave free `step` pictures ahead. It covers estimation errors and the first picture of
    /// another scene. If the target rate is near the maximum rate, the share is smaller.
    private func reserve(_ step: Int) -> Double {
        let targets = controller.targets
        let headroom = 1 - Double(targets.bitrate) / Double(max(targets.maxBitrate, 1))
        let most: Double =
            switch targets.aim {
            case .constant: 0
            case .variable: min(0.165, 0.52 * headroom)
            case .quality: 0.2
            }
        return Self.minReserve + max(most - Self.minReserve, 0) * min(Double(step) / Self.pacedPictures, 1)
    }

    /// The share of a limit that is left free after the next picture.
    private static let minReserve = 0.04
    /// The number of pictures after which the whole reserve is left free.
    private static let pacedPictures = 12.0

    /// Simulates the coming pictures and passes to `body` what is left of each limit. Stops when `body` returns
    /// `false`.
    private func walk(
        _ picture: RatePicture, own: Double, later: (_ isIntra: Bool) -> Double,
        _ body: (_ left: Double, _ step: Int, _ limit: Double) -> Bool
    ) {
        let size = Double(controller.buffer.size)
        var fullness = Double(controller.buffer.fullness)
        for bits in bitsInFlight { fullness = min(fullness - bits + arriving, size) }
        let room = min(max(fullness, 0), size)
        var sums = windows.map { $0.recent.reduce(0, +) + bitsInFlight.reduce(0, +) }
        var leaving = windows.map { _ in 0 }
        var coded = bitsInFlight
        coded.reserveCapacity(bitsInFlight.count + 121)
        var nextIntra = picture.distanceToIntra
        for step in 0..<horizon {
            let isIntra = step == nextIntra
            if isIntra { nextIntra = controller.intraPeriod.map { step + $0 } }
            let bits = step == 0 ? own : later(isIntra)
            fullness -= bits
            if !body(fullness, step, room) { return }
            fullness += arriving
            // With constant arrival, filler keeps the buffer from overflowing.
            fullness = min(fullness, size)
            coded.append(bits)
            for index in windows.indices {
                sums[index] += bits
                let window = windows[index]
                let total = window.recent.count + coded.count
                while total - leaving[index] > window.count {
                    let oldest = leaving[index]
                    sums[index] -=
                        oldest < window.recent.count ? window.recent[oldest] : coded[oldest - window.recent.count]
                    leaving[index] += 1
                }
                if !body(window.limit - sums[index], step, window.limit) { return }
            }
        }
    }
}
