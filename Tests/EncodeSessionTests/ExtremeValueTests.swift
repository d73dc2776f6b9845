import EncodePlanning
import ExtremeValues
import TestOracles
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession

/// Values of all sizes in a configuration are refused with a remedy, or resolved into headers and a running rate
/// control. Nothing traps.
@Suite struct ExtremeValueTests {
    private struct Device {
        var limits: EncodeCapabilities
        var codec: VideoCodec
    }

    private static let devices: [Device] = {
        func free(_ limits: inout EncodeCapabilities) {
            limits.rateControl = Set(RateControlMode.allCases)
            limits.maxSize = nil
            limits.maxReferences1 = 2
            limits.maxRegions = 4
            limits.limitsFrameBytes = true
            limits.limitsSliceBytes = true
            limits.intraRefresh = [.rollingColumn]
        }
        return [
            Device(limits: SettingsResolverTests.limits { free(&$0) }, codec: .h264),
            Device(limits: HEVCAdapterTests.limits { free(&$0) }, codec: .hevc),
            Device(
                limits: SettingsResolverTests.limits {
                    free(&$0); $0.rateControl = [.cqp]
                }, codec: .h264),
        ]
    }()

    /// Takes the configuration through all steps that need no device.
    ///
    /// - Returns: whether the configuration was accepted.
    private func run(_ configuration: EncoderConfiguration, _ device: Device, change: RunningChange) throws -> Bool {
        var configuration = configuration
        configuration.codec = device.codec
        let settings: EncodeSettings
        do {
            settings = try SettingsResolver.resolve(configuration, on: DeviceCapabilities(driver: "a driver", encoders: [device.limits]))
        } catch let error as VaencError {
            #expect([.usage, .unavailable].contains(error.category), "\(error)")
            return false
        }
        var adapter = try settings.adapter()
        #expect(adapter.parameterSets.count >= 2)
        let session = RateSession(settings)
        var planner = FramePlanner(structure: settings.structure)
        var counter = PictureClock.Counter()
        let plans = (0..<9).flatMap { planner.add(forceKey: $0 == 5) } + planner.finish()
        for (index, plan) in plans.enumerated() {
            if index == 4 {
                do { try session.change(change) } catch let error as VaencError {
                    #expect([.usage, .unavailable].contains(error.category), "\(error)")
                }
            }
            _ = session.decide(plan)
            _ = adapter.number(plan)
            let clock = counter.next(plan, reorderDepth: settings.structure.reorderDepth)
            #expect(
                !adapter.leading(plan, options: FrameOptions(), clock: clock, delay: session.initialDelay).units.isEmpty
                    || !plan.type.isKey)
            var bytes = [UInt8](repeating: 0x55, count: [0, 1, 5, 70_000][index % 4])
            var units = bytes.isEmpty ? [] : [0..<bytes.count]
            // Gigabytes of filler would be correct but slow.
            if settings.rate.mode == .cbr, settings.rate.vbvSize > 100_000_000 { continue }
            _ = session.finish(
                &bytes, units: &units, driverBytes: bytes.count / 2, plan: plan, canRepeat: index % 2 == 0)
        }
        return true
    }

    @Test func extremeValuesAreRefusedOrResolved() throws {
        var settled = 0
        for (name, change) in ExtremeValues.changes {
            for device in Self.devices {
                for mode in [nil, RateControlMode.cbr, .vbr] {
                    var configuration = ExtremeValues.configuration(mode)
                    change(&configuration)
                    if try run(configuration, device, change: RunningChange()) { settled += 1 }
                    _ = name
                }
            }
        }
        #expect(settled > 500)
    }

    @Test func randomConfigurationsAreRefusedOrResolved() throws {
        var random = ExtremeValues.Random(seed: 17)
        var settled = 0
        for _ in 0..<6000 {
            let configuration = random.configuration()
            if try run(configuration, random.element(Self.devices), change: random.change()) { settled += 1 }
        }
        #expect(settled > 300, "\(settled)")
    }

    /// If the buffer takes minutes to fill, the delay fields are as long as needed and hold the whole time.
    @Test(arguments: [VideoCodec.h264, .hevc], [(2_600_000, 1), (60_000_000, 9), (250_000_000, 40)])
    func delayFieldsHoldLongBufferTimes(_ codec: VideoCodec, _ buffer: (size: Int, kilobits: Int)) throws {
        let stream = try TestSession.run(frames: 1) {
            $0.codec = codec
            $0.rate.qp = nil
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(buffer.kilobits * 1024)
            $0.rate.vbvSize = buffer.size
            $0.headers.hrdParameters = true
        }.stream
        let trace = try TraceHeaders(stream: stream, codec: codec.rawValue)
        let full = buffer.size / 16 * 16 * 90_000 / (buffer.kilobits * 1024)
        let bits = try #require(trace["initial_cpb_removal_delay_length_minus1"].first) + 1
        #expect(bits > 24 && full >> bits == 0 && full >> (bits - 1) == 1, "\(bits) bits for \(full)")
        let field = codec == .h264 ? "initial_cpb_removal_delay_offset" : "nal_initial_cpb_removal_offset"
        let first = codec == .h264 ? "initial_cpb_removal_delay" : "nal_initial_cpb_removal_delay"
        let sum = try #require(trace.first(first)) + #require(trace.first(field))
        #expect(sum == full)
        #expect(trace.first(first) == buffer.size / 16 * 16 / 100 * 75 * 90_000 / (buffer.kilobits * 1024))
    }

    /// A buffer that takes longer to fill than 32 bits at 90 kHz can express is limited; `strict` refuses it.
    @Test func bufferIsLimitedTo32BitDelays() throws {
        var configuration = ExtremeValues.configuration(.cbr)
        configuration.rate.bitrate = BitsPerSecond(1000)
        configuration.rate.vbvSize = 240_000_000
        let profile = DeviceCapabilities(driver: "a driver", encoders: [Self.devices[0].limits])
        let settings = try SettingsResolver.resolve(configuration, on: profile)
        #expect(settings.rate.vbvSize == 960 * (1 << 32 - 1) / 90_000 / 16 * 16)
        #expect(settings.effective.first { $0.option == "vbvSize" }?.differs == true)
        configuration.strict = true
        #expect(throws: VaencError.self) { try SettingsResolver.resolve(configuration, on: profile) }
        configuration.headers.hrdParameters = false
        #expect(try SettingsResolver.resolve(configuration, on: profile).rate.vbvSize == 240_000_000)
    }

    /// At less than one picture per second, the buffer holds one picture and the smallest filler.
    @Test func slowFrameRatesKeepBufferForOnePicture() throws {
        let profile = DeviceCapabilities(driver: "a driver", encoders: [Self.devices[0].limits])
        var configuration = ExtremeValues.configuration(.cbr)
        configuration.frameRate = Rational(1, 10)
        configuration.rate.bitrate = BitsPerSecond(16_000)
        #expect(try SettingsResolver.resolve(configuration, on: profile).rate.vbvSize == 160_064)
        configuration.frameRate = Rational(1, 1000)
        configuration.rate.bitrate = BitsPerSecond(100_000_000)
        let error = #expect(throws: VaencError.self) { try SettingsResolver.resolve(configuration, on: profile) }
        #expect(error?.category == .usage && error?.remedy?.contains("`bitrate`") == true)
    }
}

extension TraceHeaders {
    /// Returns a field's first value, whether FFmpeg prints it with the schedule's index or without.
    fileprivate func first(_ field: String) -> Int? { self[field].first ?? self[field + "[0]"].first }
}
