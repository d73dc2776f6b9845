import BitstreamInspection
import Glibc
import ReferenceDisplay
import TestOracles
import Testing
import Threads
import VAAPI
import VideoBase

@testable import EncodeSession

/// Tests what a session guarantees if its device fails: the number of retries, the final error, and what is preserved.
@Suite struct PipelineRecoveryTests {
    /// Runs a session and returns it with the number of each call.
    private func traced(
        _ rules: String, frames: Int = FaultRun.frameCount
    ) throws -> (run: FaultRun, calls: [String: Int]) {
        try Files.withTemporaryFolder { folder in
            let run = FaultRun(FaultRun.Shape.ip.configuration, rules, frames: frames, trace: folder + "/calls")
            let text = Files.exists(folder + "/calls") ? String(decoding: try Files.read(folder + "/calls"), as: UTF8.self) : ""
            var calls: [String: Int] = [:]
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count == 2 { calls[String(words[0])] = Int(words[1]) }
            }
            return (run, calls)
        }
    }

    private func failing(_ call: String, _ range: ClosedRange<Int>, _ what: String = "status:1") -> String {
        range.map { "\(call)@\($0)=\(what)" }.joined(separator: "; ")
    }

    // MARK: Retries

    @Test(arguments: ["vaCreateContext", "vaCreateSurfaces", "vaQueryConfigEntrypoints", "vaInitialize"])
    func setUpIsTriedFiveTimes(_ call: String) throws {
        let four = try traced(failing(call, 1...4))
        #expect(four.run.outcome == .whole, "\(four.run.thrown.map { "\($0)" } ?? "")")
        #expect(four.run.faults() == [])

        let five = try traced(failing(call, 1...9))
        #expect(five.run.outcome == .error && five.run.packets.isEmpty)
        #expect(five.run.thrown is VAError)
        #expect((five.run.thrown as? VAError)?.call == call)
        if call != "vaInitialize" { #expect(five.calls[call] == 5) }
    }

    @Test func unsupportedRequestIsNotRetried() throws {
        let (run, calls) = try traced("vaCreateContext@1+=status:0x13")
        #expect(calls["vaCreateContext"] == 1)
        #expect((run.thrown as? any DescribedError)?.category == .unavailable)
    }

    /// If a driver does not know an object that it created, the driver has failed, not vaenc.
    @Test(arguments: ["vaCreateConfig", "vaCreateContext", "vaCreateSurfaces"])
    func forgottenObjectIsADeviceFailure(_ call: String) throws {
        let (run, _) = try traced("\(call)@*=corrupt")
        #expect((run.thrown as? any DescribedError)?.category == .deviceFailed, "\(run.thrown.map { "\($0)" } ?? "")")
        #expect(run.faults() == [])
    }

    @Test func twentyConsecutiveFailuresAreAnError() throws {
        let nineteen = try traced(failing("vaEndPicture", 3...21))
        #expect(nineteen.run.outcome == .whole)
        #expect(nineteen.run.faults() == [])
        #expect(nineteen.run.statistics.rebuilds == 19)

        let forGood = try traced("vaEndPicture@3+=status:1")
        #expect(forGood.run.outcome == .error)
        #expect(forGood.run.faults() == [])
        #expect(forGood.calls["vaEndPicture"] == 22)
        #expect(forGood.run.statistics.rebuilds == 19)
        #expect(forGood.run.reported.count == 1)
        #expect((forGood.run.reported.first as? any DescribedError)?.category == .deviceFailed)
        // The packets encoded before the failure stay.
        #expect(forGood.run.packets.count == 2)
    }

    @Test func packetBetweenFailuresResetsTheCount() throws {
        // Every second picture fails, more than 20 times in total.
        let (run, _) = try traced("vaEndPicture@*/2=status:24", frames: 30)
        #expect(run.outcome == .whole)
        #expect(run.faults() == [])
        #expect(run.statistics.rebuilds > 20)
    }

    /// The driver reports quality levels, but accepts only key frames with them.
    @Test func refusedQualityHintIsDropped() throws {
        var configuration = FaultRun.Shape.ip.configuration
        configuration.structure.gopFrames = 100
        configuration.coding.preset = 1
        configuration.pipeline.maxFrameDelay = 0
        let rules = "vaEndPicture@2=status:24; vaEndPicture@4=status:24; vaEndPicture@6=status:24"
        let run = FaultRun(configuration, rules)
        #expect(run.outcome == .whole)
        #expect(run.faults() == [])
        #expect(run.statistics.rebuilds == 3 && run.packets.count(where: \.isKey) == 4)
        let preset = run.effective.first { $0.option == "preset" }
        #expect(preset?.asked == "1" && preset?.used == "driver's" && preset?.differs == true)

        configuration.strict = true
        let strict = FaultRun(configuration, rules)
        #expect(strict.outcome == .error && strict.faults() == [])
        #expect(strict.statistics.rebuilds == 2 && strict.packets.count == 3)

        // Two failures are taken for an accident.
        configuration.strict = false
        let twice = FaultRun(configuration, "vaEndPicture@2=status:24; vaEndPicture@4=status:24")
        #expect(twice.outcome == .whole && twice.effective.first { $0.option == "preset" }?.used == "1")
    }

    // MARK: Preserved state

    /// Each picture has each fault, and each call fails at each picture.
    @Test(arguments: FaultRun.Shape.allCases) func lossOfAnyPictureIsSurvived(_ shape: FaultRun.Shape) throws {
        var configuration = shape.configuration
        configuration.structure.gopFrames = 100
        for (index, call) in ["vaEndPicture", "vaSyncBuffer"].enumerated() {
            for picture in 1...FaultRun.frameCount {
                let fault = (picture + index) % 2 == 0 ? "status:1" : "lost"
                let run = FaultRun(configuration, "\(call)@\(picture)=\(fault)", personality: shape.personality)
                #expect(run.faults() == [], "\(call)@\(picture)=\(fault)")
                #expect(run.outcome != .error && run.statistics.rebuilds == 1, "\(call)@\(picture)=\(fault)")
                if fault == "lost" { continue }
                #expect(run.outcome == .whole)
                // The frame is encoded again as an IDR picture; the first frame was one already.
                #expect(run.packets.count(where: \.isKey) == (picture == 1 ? 1 : 2), "\(call)@\(picture)")
            }
        }
    }

    /// Another thread reads the counts all the time.
    @Test func countsAlwaysAddUp() throws {
        var configuration = FaultRun.Shape.b.configuration
        configuration.structure.gopFrames = 12
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(faults: ["VAENC_FAULT": "# moments; vaEndPicture@*/7=status:1; vaSyncBuffer@*/9=status:24"]),
            configuration: configuration, onPacket: { _ in })
        let watcher = try DeviceThread("test")
        let state = Monitor((ended: false, looks: 0, wrong: [EncoderStatistics]()))
        watcher.async {
            while !state.withLock({ $0.ended }) {
                let counts = encoder.statistics
                state.withLock { state in
                    state.looks += 1
                    if counts.taken != counts.delivered + counts.dropped + counts.pending { state.wrong.append(counts) }
                }
            }
        }
        for index in 0..<40 {
            let buffer = try encoder.makePixelBuffer()
            try FaultRun.draw(index, buffer)
            try encoder.encode(buffer, timing: FaultRun.timing(index), options: FrameOptions())
        }
        encoder.invalidate()
        state.withLock { $0.ended = true }
        watcher.sync {}
        let (_, looks, wrong) = state.withLock { $0 }
        #expect(looks > 0)
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
        let counts = encoder.statistics
        #expect(counts.taken == 40 && counts.pending == 0 && counts.delivered + counts.dropped == 40, "\(counts)")
        #expect(counts.rebuilds > 2)
    }

    @Test func forcedKeyFramesAndTimesSurviveRecovery() throws {
        var configuration = FaultRun.Shape.b.configuration
        configuration.structure.gopFrames = 100
        configuration.structure.forcedKeyFrames = [9, 17]
        let run = FaultRun(configuration, "vaSyncBuffer@6=status:1; vaSyncBuffer@16=lost", frames: 24)
        #expect(run.faults() == [])
        #expect(run.statistics.rebuilds == 2)
        for key in [0, 9, 17] { #expect(run.packets.first { $0.displayIndex == key }?.isKey ?? true, "\(key)") }
        #expect(Set(run.packets.map(\.presentation)).count == run.packets.count)
    }

    @Test func bufferModelHoldsAcrossRecovery() throws {
        var configuration = FaultRun.Shape.ownRate.configuration
        configuration.structure.gopFrames = 12
        configuration.rate.vbvSize = 100_000
        configuration.headers.hrdParameters = true
        for controller in [RateControlOwner.vaenc, .driver] {
            configuration.rate.rateController = controller
            for faults in ["", "vaSyncBuffer@9=status:1; vaEndPicture@23=status:1", "vaSyncBuffer@*/11=status:24"] {
                let run = FaultRun(configuration, faults, frames: 40)
                #expect(run.faults() == [])
                let hrd = Streams.inspect(run.packets.flatMap(\.bytes)).hrd()
                #expect(hrd != nil)
                #expect(hrd?.violations.map(\.description) ?? [] == [], "\(controller.rawValue), \(faults)")
                // Two faults that hit the same pictures in flight cause one recovery.
                #expect(run.statistics.rebuilds >= (faults.isEmpty ? 0 : 1))
            }
        }
    }

    @Test func tokensFromBeforeRecoveryAreIgnored() throws {
        var configuration = FaultRun.Shape.ip.configuration
        configuration.structure.longTermReferences = 2
        configuration.structure.gopFrames = 100
        let run = FaultRun(
            configuration, "vaEndPicture@12=status:1", frames: 24,
            options: { index, inbox in
                var options = FrameOptions()
                // The options acknowledge all tokens so far, including those from before the fault.
                options.acknowledgedTokens = inbox.packets.compactMap(\.acknowledgementToken)
                options.refreshFromLongTerm = index % 5 == 4
                return options
            })
        #expect(run.faults() == [])
        #expect(run.outcome == .whole && run.statistics.rebuilds == 1)
        let tokens = run.packets.compactMap(\.acknowledgementToken)
        #expect(Set(tokens).count == tokens.count && !tokens.isEmpty)
    }

    // MARK: End of a session

    @Test func flushDuringRecoveryCompletes() throws {
        // The delay makes the flush happen while the encoder is rebuilt.
        let run = FaultRun(
            FaultRun.Shape.b.configuration, "vaSyncBuffer@8=status:1; vaCreateContext@2=delay:80", frames: 8)
        #expect(run.faults() == [])
        #expect(run.outcome == .whole)
    }

    @Test(arguments: ["vaSyncBuffer@3=hang", "vaEndPicture@3=hang", "vaEndPicture@3=status:1; vaCreateContext@2=hang"])
    func closingDuringAHangReturns(_ rules: String) throws {
        var limits = RecoveryLimits()
        limits.pictureNanoseconds = 500_000_000
        // On a busy machine, any call may exceed that.
        (limits.setUpTries, limits.pauseNanoseconds) = (1000, 0)
        let inbox = Inbox()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(faults: ["VAENC_FAULT": "# closing; \(rules)"]),
            configuration: FaultRun.Shape.ip.configuration, limits: limits, onPacket: inbox.handler)
        let feeder = try DeviceThread("test")
        let isFed = Monitor(false)
        feeder.async {
            defer { isFed.withLock { $0 = true } }
            for index in 0..<9 {
                guard let buffer = try? encoder.makePixelBuffer(), (try? FaultRun.draw(index, buffer)) != nil else { return }
                guard (try? encoder.encode(buffer, timing: FaultRun.timing(index), options: FrameOptions())) != nil else { return }
            }
        }
        // The third picture hangs, or the recovery from its failure.
        let isInRecovery = rules.contains("vaCreateContext")
        while !isFed.withLock({ $0 }) {
            let counts = encoder.statistics
            if counts.rebuilds > 0 || !isInRecovery && counts.taken > 2 && counts.delivered > 1 { break }
            usleep(1000)
        }
        encoder.invalidate()
        let after = inbox.all
        feeder.sync {}
        #expect(inbox.packets.count == after.0.count && inbox.errors.count == after.1.count)
        let counts = encoder.statistics
        #expect(counts.taken == counts.delivered + counts.dropped && counts.pending == 0, "\(counts)")
        #expect(counts.delivered == after.0.count)
    }

    @Test func permanentDeviceLossEndsWithOneError() throws {
        let run = FaultRun(FaultRun.Shape.ip.configuration, "vaEndPicture@4=lost; vaInitialize@2+=status:1; vaCreateContext@2+=status:1")
        #expect(run.faults() == [])
        #expect(run.outcome == .error)
        let error = try #require(run.reported.first as? any DescribedError)
        #expect(error.category == .deviceFailed)
        #expect(run.statistics.taken == run.statistics.delivered + run.statistics.dropped)
    }
}
