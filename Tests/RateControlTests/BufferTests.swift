import Testing
import VideoBase

@testable import RateControl

/// Compares the coded picture buffer with hand-derived numbers and with Annex C's own formulas.
@Suite struct BufferTests {
    @Test func constantArrivalMatchesHandDerivedFullness() {
        // At 25 frames/s and 100 kbit/s, a frame has 4000 bits; the initial half of 20 000 bits is 0.1 s or 9000 ticks.
        var buffer = CodedPictureBuffer(
            rate: 100_000, size: 20_000, initialFullness: 10_000, frameRate: Rational(25), isConstant: true)
        #expect(buffer.removalDelay == 9000 && buffer.sizeDelay == 18_000 && buffer.bitsPerFrame == 4000)
        do {
            let fits = buffer.remove(bits: 10_000)
            #expect(fits)
        }
        #expect(buffer.fullness == 4000 && buffer.removalDelay == 3600)
        do {
            let fits = buffer.remove(bits: 4001)
            #expect(!fits)
        }
        #expect(buffer.fullness == 3999)
        for _ in 0..<4 { buffer.remove(bits: 0) }
        #expect(
            buffer.fullness == 19_999 && buffer.filler(afterBits: 0) == 4000 && buffer.filler(afterBits: 3990) == 48
                && buffer.filler(afterBits: 4000) == 0)
    }

    @Test func variableRateArrivalWaitsForRoom() {
        var buffer = CodedPictureBuffer(
            rate: 100_000, size: 20_000, initialFullness: 20_000, frameRate: Rational(25), isConstant: false)
        buffer.remove(bits: 0)
        #expect(buffer.fullness == 20_000 && buffer.filler(afterBits: 0) == 0)
        // One bit more than 19 999 bits takes 17 999.1 ticks: with 17 999, arrival begins later and a bit is lost.
        buffer.remove(bits: 4001)
        #expect(buffer.fullness == 19_999)
        buffer.beginBufferingPeriod()
        #expect(buffer.removalDelay == 17_999 && buffer.fullness == 19_998)
    }

    /// If a frame time is no whole number of bits, no fraction accumulates.
    @Test func fractionsOfBitsDoNotAccumulate() {
        var buffer = CodedPictureBuffer(
            rate: 1_000_000, size: 10_000_000, initialFullness: 0, frameRate: Rational(30000, 1001), isConstant: true)
        for _ in 0..<299 { buffer.remove(bits: 0) }
        #expect(buffer.fullness == 299 * 1001 * 1_000_000 / 30000)
        buffer.remove(bits: 0)
        #expect(buffer.fullness == 10_000_000 + 10_000)
        buffer.change(size: 20_000_000, frameRate: Rational(25))
        #expect(buffer.fullness == 10_010_000)
    }

    /// Computes arrival and removal times by C.1.1 and C.1.2 in floating point, from the values of the messages alone.
    @Test(arguments: [true, false]) func bufferMatchesAnnexC(isConstant: Bool) {
        let rate = 640_000
        let size = 480_000
        for frameRate in [Rational(25), Rational(30000, 1001), Rational(24000, 1001)] {
            var hrd = HRDTiming(
                bitrate: rate, bufferSize: size, initialFullness: 400_000, frameRate: frameRate,
                isConstant: isConstant)
            var seed: UInt64 = 7
            var lastArrival = 0.0
            var periodRemoval = 0.0
            var sincePeriod = 0
            var sum: Int?
            for index in 0..<2000 {
                let begins = index % 37 == 0
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                var removal = periodRemoval + Double(sincePeriod) / frameRate.value
                var offset = 0.0
                let initial = hrd.initialDelay
                if begins {
                    if let sum { #expect(initial.delay + initial.offset == sum) }
                    sum = initial.delay + initial.offset
                    if index == 0 { removal = Double(initial.delay) / 90_000 }
                    // C-15, C-16
                    let gap = (removal - lastArrival) * 90_000
                    #expect(index == 0 || Double(initial.delay) <= (gap + 1e-6).rounded(.up))
                    if isConstant, index > 0 { #expect(Double(initial.delay) >= (gap - 1e-6).rounded(.down)) }
                    periodRemoval = removal
                    sincePeriod = 0
                } else {
                    offset = Double(initial.offset)
                }
                let most = hrd.buffer.fullness
                var bits = Int(seed >> 33) % max(min(most - 10, rate / 12), 1)
                if index % 101 == 0 { bits = max(most - 10, 0) }
                bits += hrd.filler(afterBits: bits)
                let initialTicks = begins ? Double(initial.delay) : Double(sum!) - offset + offset
                let earliest = removal - initialTicks / 90_000
                let begin = isConstant || index == 0 ? lastArrival : max(lastArrival, earliest)
                lastArrival = begin + Double(bits) / Double(rate)
                #expect(lastArrival <= removal + 1e-9, "picture \(index)")
                do {
                    let isRemovable = hrd.coded(bits: bits, beginsBufferingPeriod: begins)
                    #expect(isRemovable)
                }
                // This is the fullness just before the next removal.
                if isConstant {
                    let next = removal + 1 / frameRate.value
                    #expect((next - lastArrival) * Double(rate) <= Double(size) + 1)
                }
                sincePeriod += 1
            }
        }
    }

    /// A filler NAL unit has at least 6 bytes in H.264 and 7 in HEVC.
    @Test(arguments: [6, 7]) func fillerHasTheLeastUnitSize(bytes: Int) {
        var buffer = CodedPictureBuffer(
            rate: 100_000, size: 20_000, initialFullness: 20_000, frameRate: Rational(25), isConstant: true,
            minFillerBytes: bytes)
        for missing in 0...80 {
            let filler = buffer.filler(afterBits: 4000 - missing)
            #expect(filler == (missing == 0 ? 0 : max((missing + 7) / 8, bytes) * 8))
        }
        buffer.remove(bits: 3999 + buffer.filler(afterBits: 3999))
        #expect(buffer.fullness == 20_000 - bytes * 8 + 1)
    }

    /// Rates, sizes, frame rates and pictures are at the ends of their ranges; the delays stay whole ticks.
    @Test func extremeValuesDoNotOverflow() {
        let rates = [1, 64, 960, 4_000_000_000, Int.max]
        let frameRates = [
            Rational(1, 1000), Rational(1000), Rational(2_147_483_647, 2_147_484), Rational(2_147_483_647, 2_147_483_646),
            Rational(2_147_483, 2_147_483_647), Rational(0), Rational(1, 0), Rational(-5, 3), Rational(.min, .max),
        ]
        for rate in rates {
            for size in rates {
                for frameRate in frameRates {
                    for isConstant in [false, true] {
                        var hrd = HRDTiming(
                            bitrate: rate, bufferSize: size, initialFullness: size / 4 * 3, frameRate: frameRate,
                            isConstant: isConstant, minFillerBytes: 7)
                        for bits in [0, 1, 1 << 40, Int.max, 8, Int.max, 0] {
                            let delay = hrd.initialDelay
                            #expect(delay.delay >= 1 && delay.offset >= 0)
                            #expect(hrd.filler(afterBits: bits) >= 0)
                            hrd.coded(bits: bits, beginsBufferingPeriod: true)
                        }
                    }
                }
            }
        }
        #expect(CodedPictureBuffer.fillDelay(size: 2_600_000, rate: 9984) == 23_437_500)
        #expect(CodedPictureBuffer.fillDelay(size: .max, rate: 1) == .max)
    }

    /// Sweeps picture sizes and compares initial_cpb_removal_delay, rounded as in C.3, with Annex C in floating point.
    @Test(arguments: [6, 7]) func initialDelayIsRoundedAsInAnnexC(filler bytes: Int) {
        var seed: UInt64 = 11
        for rate in stride(from: 59_968, through: 700_000, by: 6_400) {
            var hrd = HRDTiming(
                bitrate: rate, bufferSize: rate / 2 & ~15, initialFullness: rate / 3, frameRate: Rational(25),
                isConstant: true, minFillerBytes: bytes)
            var arrived = 0.0
            var removal = 0.0
            for index in 0..<120 {
                let delay = hrd.initialDelay.delay
                if index == 0 { removal = Double(delay) / 90_000 }
                let gap = (removal - arrived) * 90_000
                #expect(Double(delay) <= (gap + 1e-4).rounded(.up) && Double(delay) >= (gap - 1e-4).rounded(.down))
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                var bits = min(Int(seed >> 33) % (rate / 13), hrd.buffer.fullness) / 8 * 8
                bits += hrd.filler(afterBits: bits)
                hrd.coded(bits: bits, beginsBufferingPeriod: true)
                arrived += Double(bits) / Double(rate)
                removal += 0.04
            }
        }
    }
}
