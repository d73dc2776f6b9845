import Testing
import VideoBase

@testable import EncodeSession

/// Checks the maximum rate over each second of a stream whose device fails in the middle. The key frame after the fault
/// is counted together with the packets before it, and pictures that are encoded again are counted once.
@Suite struct RateOverFaultTests {
    private static let frames = 75
    private static let rules = [
        "", "vaEndPicture@20=status:24", "vaEndPicture@12=status:24; vaEndPicture@40=status:24; vaEndPicture@41=status:1",
        "vaRenderPicture@30=status:1", "vaBeginPicture@50=status:1; vaBeginPicture@51=status:1", "vaEndPicture@*/10=status:24",
    ]

    private func configuration(
        _ controller: RateControlOwner, _ bFrames: Int, maxQP: Int?, codec: VideoCodec = .h264, isWide: Bool = false, most: Int = 96_000
    ) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: FaultRun.size)
        configuration.codec = codec
        if isWide { configuration.inputFormat = .p010 }
        configuration.frameRate = Rational(30)
        configuration.structure.gopFrames = 1000
        configuration.structure.bFrames = bFrames
        configuration.rate.rateControl = .vbr
        configuration.rate.rateController = controller
        configuration.rate.bitrate = BitsPerSecond(most * 2 / 3)
        configuration.rate.maxBitrate = BitsPerSecond(most)
        configuration.rate.maxQP = maxQP
        return configuration
    }

    /// Returns, from the packets alone, the number of pictures that end a second with more bits than the maximum rate
    /// allows.
    private func secondsOver(_ packets: [EncodedPacket], _ rate: Int) -> Int {
        let sizes = packets.map { $0.bytes.count * 8 }
        return sizes.indices.count { sizes[max(0, $0 - 29)...$0].reduce(0, +) > rate }
    }

    @Test(
        arguments: rules,
        [
            (VideoCodec.h264, RateControlOwner.vaenc, 0), (.h264, .vaenc, 2), (.h264, .driver, 0), (.h264, .driver, 2),
            (.hevc, .vaenc, 2), (.hevc, .driver, 0),
        ])
    func maximumRateHoldsAcrossRecovery(_ rules: String, _ each: (codec: VideoCodec, controller: RateControlOwner, bFrames: Int)) {
        let run = FaultRun(
            configuration(
                each.controller, each.bFrames, maxQP: nil, codec: each.codec,
                isWide: each.codec == .hevc && each.bFrames > 0),
            rules, frames: Self.frames)
        #expect(run.outcome == .whole && run.faults() == [], "\(run.faults())")
        #expect((run.statistics.rebuilds > 0) == !rules.isEmpty)
        let over = secondsOver(run.packets, 96_000)
        #expect(run.statistics.broken.overMaxBitrate == over)
        // The driver's controller restarts and does not know the second before.
        if each.controller == .vaenc || rules.isEmpty { #expect(over == 0) }
    }

    /// If no QP is high enough, the violations are counted, with or without faults.
    @Test(arguments: rules, [(VideoCodec.h264, RateControlOwner.vaenc), (.h264, .driver), (.hevc, .vaenc), (.hevc, .driver)])
    func unavoidableRateViolationsAreCounted(_ rules: String, _ each: (codec: VideoCodec, controller: RateControlOwner)) {
        // Content that moves by whole samples costs HEVC few bits at any QP.
        let most = each.codec == .hevc ? 40_000 : 96_000
        let run = FaultRun(
            configuration(each.controller, 0, maxQP: 6, codec: each.codec, most: most), rules, frames: Self.frames)
        #expect(run.outcome == .whole && run.faults() == [])
        let over = secondsOver(run.packets, most)
        #expect(over > 10 && run.statistics.broken.overMaxBitrate == over, "\(over)")
    }
}
