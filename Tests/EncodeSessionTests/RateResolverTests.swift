import Testing
import VideoBase

@testable import EncodeSession

/// Tests which controller runs and in which mode, for every set of modes that a driver could offer and every request.
@Suite struct RateResolverTests {
    private static let modes = RateControlMode.allCases

    private func settle(
        _ offered: Set<RateControlMode>, hasOneQP: Bool = false, limitsFrameBytes: Bool = true, bFrames: Bool = false,
        _ change: (inout EncoderConfiguration) -> Void
    ) throws -> EncodeSettings {
        let limits = SettingsResolverTests.limits {
            $0.rateControl = offered
            $0.hasOneQP = hasOneQP
            $0.limitsFrameBytes = limitsFrameBytes
            if bFrames { $0.maxReferences1 = 1 }
        }
        return try SettingsResolver.resolve(
            SettingsResolverTests.configuration(1280, 720, change),
            on: DeviceCapabilities(driver: "a driver", encoders: [limits]))
    }

    private func entry(_ settings: EncodeSettings, _ option: String) -> EffectiveEntry? {
        settings.effective.first { $0.option == option }
    }

    @Test func everyRequestedModeIsResolvedOrRefused() throws {
        var refused = 0
        var own = 0
        for bits in 0..<1 << Self.modes.count {
            let offered = Set(Self.modes.indices.filter { bits >> $0 & 1 != 0 }.map { Self.modes[$0] })
            for requested in Self.modes {
                for controller in [nil, RateControlOwner.driver, .vaenc] {
                    for hasOneQP in [false, true] {
                        func ask(_ configuration: inout EncoderConfiguration) {
                            configuration.rate.rateControl = requested
                            configuration.rate.rateController = controller
                            if ![.cqp, .icq].contains(requested) {
                                configuration.rate.bitrate = BitsPerSecond(2_000_000)
                            }
                        }
                        let settings: EncodeSettings
                        do {
                            settings = try settle(offered, hasOneQP: hasOneQP, ask)
                        } catch let error as VaencError {
                            // A request is refused only if no offered mode comes near it.
                            #expect(error.category == .unavailable && error.remedy != nil)
                            #expect(!offered.contains(requested))
                            refused += 1
                            continue
                        }
                        let rate = settings.rate
                        let name = "\(offered.map(\.rawValue).sorted()), \(requested), \(controller as Any), \(hasOneQP)"
                        #expect(offered.contains(rate.deviceMode), "\(name)")
                        if rate.usesVaencRateControl {
                            own += 1
                            #expect(!hasOneQP && [.cbr, .vbr, .qvbr].contains(rate.mode), "\(name)")
                            #expect(controller == .vaenc || !offered.contains(requested), "\(name)")
                        } else if offered.contains(requested), controller != .vaenc {
                            #expect(rate.mode == requested, "\(name)")
                        }
                        #expect(entry(settings, "rateControl")?.used == rate.mode.rawValue, "\(name)")
                        if ![.cqp, .icq].contains(rate.mode) {
                            #expect(entry(settings, "rateController")?.used == rate.controller.rawValue, "\(name)")
                        }
                        let differs = settings.effective.contains(where: \.differs)
                        let isAsRequested =
                            rate.mode == requested
                            && (controller == nil || controller == rate.controller && ![.cqp, .icq].contains(rate.mode))
                        #expect(differs != isAsRequested, "\(name)")
                        var isStrict = true
                        do {
                            _ = try settle(offered, hasOneQP: hasOneQP) {
                                ask(&$0)
                                $0.strict = true
                            }
                        } catch { isStrict = false }
                        #expect(isStrict == isAsRequested, "\(name)")
                    }
                }
            }
        }
        #expect(refused > 100 && own > 100)
    }

    private static let targets: [(option: String, set: @Sendable (inout EncoderConfiguration) -> Void)] = [
        ("qp", { $0.rate.qp = 20 }), ("qpI", { $0.rate.qpI = 10 }), ("qpB", { $0.rate.qpB = 30 }), ("quality", { $0.rate.quality = 24 }),
        ("bitrate", { $0.rate.bitrate = BitsPerSecond(300_032) }),
    ]

    @Test func lackOfConstantQPNamesTheEntryPoint() throws {
        let error = #expect(throws: VaencError.self) { try settle([.cbr, .vbr]) { $0.rate.qp = 20 } }
        #expect(error?.message.contains("does not support constant QP with EncSlice") == true, "\(error as Any)")
    }

    /// Of two requested targets, each is either used or reported as a difference, in every mode. `strict` refuses
    /// exactly the differences.
    @Test func everyTargetIsReported() throws {
        let modes: [RateControlMode?] = [nil] + Self.modes.map { Optional($0) }
        let offers: [Set<RateControlMode>] = [Set(Self.modes), [.cqp], [.cbr, .vbr]]
        var counts = (refused: 0, different: 0, same: 0)
        for (offered, hasOneQP) in offers.flatMap({ [($0, false), ($0, true)] }) {
            for mode in modes {
                for first in Self.targets.indices {
                    for second in first..<Self.targets.count {
                        let name = "\(offered.map(\.rawValue).sorted()), \(mode as Any), \(first), \(second), \(hasOneQP)"
                        func ask(_ configuration: inout EncoderConfiguration) {
                            configuration.rate.rateControl = mode
                            configuration.structure.bFrames = 1
                            Self.targets[first].set(&configuration)
                            Self.targets[second].set(&configuration)
                        }
                        let settings: EncodeSettings
                        do {
                            settings = try settle(offered, hasOneQP: hasOneQP, bFrames: true, ask)
                        } catch let error as VaencError {
                            #expect(error.remedy != nil, "\(name): \(error)")
                            counts.refused += 1
                            continue
                        }
                        for index in Set([first, second]) {
                            let entries = settings.effective.filter { $0.option == Self.targets[index].option }
                            #expect(entries.count == 1 && entries.first?.asked != nil, "\(name): \(entries)")
                        }
                        let differs = settings.effective.contains(where: \.differs)
                        if differs { counts.different += 1 } else { counts.same += 1 }
                        do {
                            _ = try settle(offered, hasOneQP: hasOneQP, bFrames: true) {
                                ask(&$0)
                                $0.strict = true
                            }
                            #expect(!differs, "\(name)")
                        } catch { #expect(differs, "\(name): \(error)") }
                    }
                }
            }
        }
        #expect(counts.refused > 50 && counts.different > 50 && counts.same > 20, "\(counts)")
    }

    /// `qpI` and `qpB` select constant QP, as `qp` does. A quality or a bit rate has priority over them.
    @Test func eachQPSelectsConstantQP() throws {
        let all = Set(Self.modes)
        let qpI = try settle(all) {
            $0.rate.qpI = 10; $0.strict = true
        }
        #expect(qpI.rate.mode == .cqp && qpI.qpI == 10 && qpI.qpP == 24)
        let qpB = try settle(all, bFrames: true) {
            $0.rate.qpB = 40; $0.structure.bFrames = 1; $0.strict = true
        }
        #expect(qpB.rate.mode == .cqp && qpB.qpB == 40)
        let quality = try settle(all) {
            $0.rate.qpI = 10; $0.rate.quality = 30
        }
        #expect(quality.rate.mode == .icq && entry(quality, "qpI")?.used == "none")
        let rate = try settle(all) {
            $0.rate.qpI = 10; $0.rate.qpB = 12; $0.rate.bitrate = BitsPerSecond(300_032)
        }
        #expect(rate.rate.mode == .vbr && entry(rate, "qpI")?.used == "none")
        #expect(entry(rate, "qpB")?.why == "the bit rate has priority")
        let error = #expect(throws: VaencError.self) {
            try settle(all) {
                $0.rate.qpI = 10; $0.rate.bitrate = BitsPerSecond(300_032); $0.strict = true
            }
        }
        #expect(error?.message.contains("`qpI`: asked 10, would be none") == true, "\(error as Any)")
    }

    /// AVBR has no maximum rate: a requested one is reported as not used.
    @Test func averageRateHasNoMaximum() throws {
        func ask(_ configuration: inout EncoderConfiguration) {
            configuration.rate.rateControl = .avbr
            configuration.rate.bitrate = BitsPerSecond(600_000)
        }
        let plain = try settle(Set(Self.modes), ask)
        #expect(plain.rate.mode == .avbr && entry(plain, "maxBitrate") == nil)
        let most = try settle(Set(Self.modes)) {
            ask(&$0); $0.rate.maxBitrate = BitsPerSecond(700_000)
        }
        #expect(entry(most, "maxBitrate")?.used == "none" && most.rate.maxBitrate == plain.rate.maxBitrate)
        #expect(throws: VaencError.self) {
            try settle(Set(Self.modes)) {
                ask(&$0); $0.rate.maxBitrate = BitsPerSecond(700_000); $0.strict = true
            }
        }
        var change = RunningChange()
        change.maxBitrate = BitsPerSecond(700_000)
        #expect(throws: VaencError.self) {
            try plain.rate.changed(by: change, frameRate: Rational(30), highest: .highest(plain.profile))
        }
    }

    /// vaenc's controller keeps limits that the driver cannot keep, unless the driver's controller is requested.
    @Test func missingDriverLimitsSelectVaencsController() throws {
        func ask(_ configuration: inout EncoderConfiguration) {
            configuration.rate.bitrate = BitsPerSecond(2_000_000)
            configuration.rate.maxFrameBytes = 50_000
        }
        let offered: Set<RateControlMode> = [.cqp, .vbr]
        #expect(try settle(offered, ask).rate.controller == .driver)
        let own = try settle(offered, limitsFrameBytes: false, ask)
        #expect(own.rate.controller == .vaenc && own.rate.maxFrameBytes == 50_000)
        #expect(entry(own, "rateController")?.why == "the driver cannot limit the size of pictures")
        let insisting = try settle(offered, limitsFrameBytes: false) {
            ask(&$0)
            $0.rate.rateController = .driver
        }
        #expect(insisting.rate.controller == .driver && insisting.rate.maxFrameBytes == nil)
        #expect(entry(insisting, "maxFrameBytes")?.used == "none")
        let windows = try settle(offered) {
            $0.rate.bitrate = BitsPerSecond(2_000_000)
            $0.rate.dataRateLimits = [DataRateLimit(bytes: 300_000, duration: .seconds(1))]
        }
        #expect(windows.rate.controller == .vaenc && windows.rate.limits.count == 1)
    }
}
