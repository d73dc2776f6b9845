import EncodeSession
import Glibc
import ReferenceDisplay
import Synchronization
import Testing
import Threads
import VideoBase

/// A handler runs on a thread of its session; its calls to another session are that session's.
@Suite struct HandlerTests {
    private static let number = Atomic(0)

    private func encoder(
        _ rules: String, _ handler: @escaping PacketHandler, changing change: (inout EncoderConfiguration) -> Void = { _ in }
    ) throws -> HardwareEncoder {
        var limits = RecoveryLimits()
        limits.pictureNanoseconds = 1_000_000_000
        limits.pauseNanoseconds = 1_000_000
        var configuration = EncoderConfiguration(size: FaultRun.size)
        configuration.rate.qp = 24
        configuration.structure.bFrames = 0
        change(&configuration)
        let number = Self.number.add(1, ordering: .relaxed).newValue
        return try HardwareEncoder(
            display: ReferenceDisplay.open(
                faults: rules.isEmpty ? [:] : ["VAENC_FAULT": "# handler \(number); \(rules)"],
                limitNanoseconds: limits.pictureNanoseconds),
            configuration: configuration, limits: limits, onPacket: handler)
    }

    /// A handler feeds a second session whose device hangs or is late: the second session recovers, and the first is
    /// not affected.
    @Test(arguments: ["vaMapBuffer@1=hang", "vaDeriveImage@1=hang", "vaMapBuffer@1=delay:3000", ""])
    func faultsOfOneSessionDoNotAffectAnother(_ rules: String) throws {
        let (inbox, other) = (Inbox(), Inbox())
        let second = try encoder(rules, other.handler)
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
        #expect(second.statistics.delivered == 1 && (second.statistics.rebuilds > 0) == !rules.isEmpty)
        first.invalidate()
        second.invalidate()
    }

    /// A handler ends its session while a recovery submits more frames than the device has room for before the handler
    /// returns.
    @Test(.timeLimit(.minutes(5))) func handlerEndsItsSessionDuringRecovery() throws {
        let state = Monitor<(encoder: HardwareEncoder?, packets: Int, hasEnded: Bool)>((nil, 0, false))
        let encoder = try encoder("vaEndPicture@2=status:1") { result in
            guard case .success = result else { return }
            let encoder = state.withLock { state in
                state.packets += 1
                return state.packets == 2 ? state.encoder : nil
            }
            guard let encoder else { return }
            // By then the recovery has filled the device; otherwise the session ends as it does without a recovery.
            usleep(200_000)
            encoder.invalidate()
            state.withLock { $0.hasEnded = true }
        } changing: {
            $0.structure.bFrames = 3
            $0.pipeline.asyncDepth = 1
        }
        state.withLock { $0.encoder = encoder }
        for index in 0..<5 {
            try encoder.encode(encoder.makePixelBuffer(), timing: FaultRun.timing(index), options: FrameOptions())
        }
        // The session ends during this call.
        #expect(throws: (any Error).self) { try encoder.completeFrames(until: nil) }
        let hasEnded = state.wait(atMostNanoseconds: 20_000_000_000) { $0.hasEnded ? true : nil }
        #expect(hasEnded == true)
        // This call has no effect: the first one has ended, or never will.
        state.withLock { $0.encoder = nil }
        #expect(encoder.statistics.delivered + encoder.statistics.dropped + encoder.statistics.pending == 5)
    }
}
