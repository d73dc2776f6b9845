import VideoBase

@testable import RateControl

/// Simulated content: the number of bits that each picture takes at a QP. It is repeatable.
struct SimulatedContent {
    /// The numbers of bits of intra and P pictures at QP 26.
    var intra: Double
    var inter: Double
    /// The powers of two by which the bits fall for 6 steps of QP; the controller assumes other values.
    var slopes = (intra: 0.75, inter: 1.3)
    /// The amplitude of the noise, as a share.
    var noise = 0.2
    /// The frames at which another scene begins. The value is the factor of the scene's bits at equal QP.
    var cuts: [Int: Double] = [:]
    private var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var hardness = 1.0

    init(intra: Double, inter: Double) {
        self.intra = intra
        self.inter = inter
    }

    /// Advances to a frame; called before its pictures.
    mutating func next(frame: Int) -> (isCut: Bool, wobble: Double) {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let random = Double(seed >> 33) / Double(UInt32.max >> 1) * 2 - 1
        if let factor = cuts[frame] { hardness = factor }
        return (cuts[frame] != nil, hardness * (1 + noise * random))
    }

    func bits(_ type: PictureType, qp: Int, isCut: Bool, wobble: Double) -> Int {
        let likeIntra = type == .idr || type == .i || isCut
        let base = likeIntra ? intra : type == .b ? inter * 0.6 : inter
        let slope = likeIntra ? slopes.intra : slopes.inter
        return max(Int(base * wobble * Double.exp2(slope * Double(26 - qp) / 6)), 200)
    }
}

extension Double {
    /// Returns 2 to the given power, without a C library.
    static func exp2(_ power: Double) -> Double {
        let whole = power.rounded(.down)
        var result = 1.0
        var term = 1.0
        for index in 1..<30 {
            term *= (power - whole) * 0.693147180559945309 / Double(index)
            result += term
        }
        return result * Double(sign: .plus, exponent: Int(whole), significand: 1)
    }
}

/// A run of the controller over simulated content.
struct Simulation {
    var targets: RateTargets
    var content: SimulatedContent
    var gop: Int?
    var bFrames = 0
    /// The number of pictures in flight when the next is planned.
    var delay = 0
    /// Called before each picture.
    var change: (Int, inout PictureRateController) -> Void = { _, _ in }

    struct Result {
        /// The bits and the QP of each picture in coding order, filler included.
        var bits: [Int] = []
        var qps: [Int] = []
        var types: [PictureType] = []
        var filler = 0
        var repeats = 0
        var violations = 0

        func rate(_ frames: Range<Int>, fps: Double) -> Double {
            Double(bits[frames].reduce(0, +)) / Double(frames.count) * fps
        }

        func peak(frames: Int) -> Int {
            guard bits.count >= frames else { return bits.reduce(0, +) }
            var sum = bits[..<frames].reduce(0, +)
            var most = sum
            for index in frames..<bits.count {
                sum += bits[index] - bits[index - frames]
                most = max(most, sum)
            }
            return most
        }
    }

    func run(frames: Int) -> Result {
        var controller = PictureRateController(targets)
        var content = content
        var result = Result()
        var waiting: [(qp: Int, type: PictureType, isCut: Bool, wobble: Double)] = []
        func finish() {
            let first = waiting.removeFirst()
            var qp = first.qp
            while true {
                let bits = content.bits(first.type, qp: qp, isCut: first.isCut, wobble: first.wobble)
                switch controller.finished(bits: bits, canRepeat: waiting.isEmpty && delay == 0) {
                case .encodeAgain(let higher): qp = higher
                case .accepted(let filler):
                    result.bits.append(bits + filler)
                    result.qps.append(qp)
                    result.types.append(first.type)
                    result.filler += filler
                    return
                }
            }
        }
        for frame in 0..<frames {
            change(frame, &controller)
            let position = gop.map { frame % $0 } ?? frame
            let type: PictureType = position == 0 ? .idr : bFrames > 0 && position % (bFrames + 1) != 1 ? .b : .p
            let (isCut, wobble) = content.next(frame: frame)
            let qp = controller.plan(RatePicture(type: type, distanceToIntra: gop.map { $0 - position }))
            waiting.append((qp, type, isCut, wobble))
            if waiting.count > delay { finish() }
        }
        while !waiting.isEmpty { finish() }
        result.repeats = controller.repeatCount
        result.violations = controller.violationCount
        return result
    }
}
