import Glibc
import ReferenceDisplay
import Synchronization
import Testing
import Threads
import VAAPI
import VideoBase

@testable import EncodeSession

/// A handler runs on a thread of its session; its calls to another session are that session's.
@Suite struct HandlerTests {
    private static let number = Atomic(0)

    private static var limits: RecoveryLimits {
        var limits = RecoveryLimits()
        limits.pictureNanoseconds = 60_000_000_000
        limits.pauseNanoseconds = 1_000_000
        return limits
    }

    private static var configuration: EncoderConfiguration {
        var configuration = EncoderConfiguration(size: FaultRun.size)
        configuration.rate.qp = 24
        configuration.structure.bFrames = 0
        return configuration
    }

    private func device(_ rules: String) throws -> Display {
        let number = Self.number.add(1, ordering: .relaxed).newValue
        return try ReferenceDisplay.open(
            faults: rules.isEmpty ? [:] : ["VAENC_FAULT": "# handler \(number); \(rules)"],
            limitNanoseconds: Self.limits.pictureNanoseconds)
    }

    private func encoder(_ rules: String, _ handler: @escaping PacketHandler) throws -> HardwareEncoder {
        try HardwareEncoder(display: device(rules), configuration: Self.configuration, limits: Self.limits, onPacket: handler)
    }

    /// A handler feeds a second session whose device hangs or is late: the second session recovers, and the first is
    /// not affected.
    @Test(arguments: ["vaMapBuffer@1=hang", "vaDeriveImage@1=hang", "vaMapBuffer@1=delay:3000", ""])
    func faultsOfOneSessionDoNotAffectAnother(_ rules: String) throws {
        let (inbox, other) = (Inbox(), Inbox())
        let second = try encoder(rules, other.handler)
        try second.prepare()
        // The call that hangs is the next one. The recovery's device has the long limit again.
        if !rules.isEmpty { second.display.watch.limitNanoseconds = 1_000_000_000 }
        let isFirst = Atomic(true)
        let first = try encoder("") { result in
            inbox.handler(result)
            guard isFirst.exchange(false, ordering: .relaxed) else { return }
            do {
                let buffer = try second.makePixelBuffer()
                try unsafe buffer.withUnsafePlanes { unsafe $0.base(0).storeBytes(of: 128, as: UInt8.self) }
                try second.encode(buffer, timing: FaultRun.timing(0), options: FrameOptions())
            } catch { Issue.record("\(error)") }
        }
        for index in 0..<6 {
            try first.encode(first.makePixelBuffer(), timing: FaultRun.timing(index), options: FrameOptions())
        }
        try first.completeFrames(until: nil)
        try second.completeFrames(until: nil)
        #expect(first.statistics.delivered == 6 && first.statistics.rebuilds == 0)
        #expect(second.statistics.delivered == 1)
        // On a busy machine, the late call may return before it is missed.
        if !rules.contains("delay") { #expect((second.statistics.rebuilds > 0) == !rules.isEmpty) }
        first.invalidate()
        second.invalidate()
    }

    /// A handler ends its session while a recovery submits more frames than the device has room for before the handler
    /// returns.
    @Test(.timeLimit(.minutes(60))) func handlerEndsItsSessionDuringRecovery() throws {
        let state = Monitor<(session: Supervisor?, packets: Int, hasEnded: Bool)>((nil, 0, false))
        let display = try device("vaEndPicture@2=status:1")
        var configuration = Self.configuration
        configuration.structure.bFrames = 3
        configuration.pipeline.asyncDepth = 1
        let settings = try SettingsResolver.resolve(configuration, on: DeviceCapabilities(display, .h264))
        let session = try Supervisor(display, settings, limits: Self.limits) { result in
            guard case .success = result else { return }
            let session = state.withLock { state in
                state.packets += 1
                return state.packets == 2 ? state.session : nil
            }
            guard let session else { return }
            // The device has room for one picture, and three more are submitted.
            let pipeline = session.state.wait { $0.pipeline }
            while pipeline.state.withLock({ $0.hasIdleBuffer }) { usleep(1000) }
            session.close()
            state.withLock { $0.hasEnded = true }
        }
        state.withLock { $0.session = session }
        for index in 0..<5 {
            try session.encode(session.makeBuffer(), timing: FaultRun.timing(index), options: FrameOptions())
        }
        // The session ends during this call.
        #expect(throws: (any Error).self) { try session.complete(until: nil) }
        state.wait { $0.hasEnded ? () : nil }
        state.withLock { $0.session = nil }
        let counts = session.statistics
        #expect(counts.delivered + counts.dropped + counts.pending == 5)
    }
}
