import ReferenceDisplay
import TestOracles
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession

/// Encodes pictures that callers hold in surfaces of a device that fails.
@Suite struct SurfaceFaultTests {
    private final class Owner: Sendable {}

    /// The faults hit one picture, the device's output, a rebuilt context (the second display), and the mapping of a coded
    /// buffer: the pictures are drawn before the first one is encoded, so that all later mappings are those of coded buffers.
    @Test(arguments: [
        "vaEndPicture@3=status:1", "vaEndPicture@6=status:24", "vaSyncBuffer@2=status:1",
        "vaMapBuffer@\(FaultRun.frameCount + 3)=corrupt",
        "vaEndPicture@4=status:1; vaCreateContext@2=status:1", "vaBeginPicture@5=status:6; vaCreateContext@2=status:1",
    ])
    func everyFrameIsDeliveredDespiteTheFault(rules: String) throws {
        let configuration = FaultRun.Shape.b.configuration
        let inbox = Inbox()
        var limits = RecoveryLimits()
        limits.pauseNanoseconds = 1_000_000
        let display = try ReferenceDisplay.open(
            [:], faults: ["VAENC_FAULT": "# brought; \(rules)"], limitNanoseconds: limits.pictureNanoseconds)
        let encoder = try HardwareEncoder(
            display: display, configuration: configuration, limits: limits, onPacket: inbox.handler)
        var isKept: [() -> Bool] = []
        var buffers: [SurfaceBuffer] = []
        for index in 0..<FaultRun.frameCount {
            let surface = try #require(try Surface.make(display, count: 1, size: FaultRun.size).first)
            let owner = Owner()
            isKept.append { [weak owner] in owner != nil }
            let buffer = try SurfaceBuffer(surface: surface, visible: FaultRun.size, owner: owner)
            try FaultRun.draw(index, buffer)
            buffers.append(buffer)
        }
        for (index, buffer) in buffers.enumerated() {
            try encoder.encode(buffer, timing: FaultRun.timing(index), options: FrameOptions())
        }
        buffers = []
        try encoder.completeFrames(until: nil)
        let statistics = encoder.statistics
        #expect(statistics.rebuilds >= 1, "the fault came")
        #expect(statistics.taken == FaultRun.frameCount)
        #expect(statistics.delivered + statistics.dropped == FaultRun.frameCount && statistics.dropped == 0)
        encoder.invalidate()
        #expect(isKept.allSatisfy { !$0() })
        let (packets, reported, _) = inbox.all
        #expect(reported.isEmpty && packets.count == statistics.delivered)
        let video = ForeignDecoder.libavcodec.decode(packets.flatMap(\.bytes))
        #expect(video.messages.isEmpty && video.frames.count == packets.count)
    }
}
