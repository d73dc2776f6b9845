import Testing
import VAAPI

@testable import Vaenc

@Suite struct DeviceChoiceTests {
    private func open(_ device: DeviceSelector, _ change: (inout EncoderConfiguration) -> Void = { _ in }) throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.rate.qp = 30
        change(&configuration)
        let session = try CompressionSession(configuration: configuration, device: device) { _ in }
        defer { session.invalidate() }
        try session.prepare()
    }

    @Test func refusalsHaveTheirCategory() {
        #expect(category { try open(.reference) } == nil)
        #expect(category { try open(.path("/dev/dri/renderD999")) } == .unavailable)
        #expect(category { try open(.path("/dev/null")) } == .unavailable)
        #expect(category { try open(.pci("0000:ff:1f.7")) } == .unavailable)
        #expect(category { try open(.reference) { $0.size = VideoSize(width: 2, height: 2) } } == .unavailable)
        #expect(category { try open(.reference) { $0.size = VideoSize(width: 16384, height: 16384) } } == .unavailable)
        #expect(category { try open(.reference) { $0.codec = .hevc } } == nil)
        #expect(
            category {
                try open(.reference) {
                    $0.codec = .hevc; $0.size = VideoSize(width: 8, height: 8)
                }
            } == .unavailable)
        #expect(
            category {
                try open(.reference) {
                    $0.codec = .hevc; $0.profile = .h264High
                }
            } == .usage)
        #expect(
            category {
                try open(.reference) {
                    $0.lowPower = true; $0.strict = true
                }
            } == .unavailable)
        #expect(category { try open(.reference) { $0.rate.qp = 99 } } == .usage)
    }

    /// The error of a strict session names the setting, also if the report's entry has another name.
    @Test func strictErrorsNameSettings() {
        func message(_ change: (inout EncoderConfiguration) -> Void) -> String {
            do {
                try open(.reference) {
                    change(&$0); $0.strict = true
                }
            } catch { return "\(error)" }
            return ""
        }
        #expect(message { $0.lowPower = true }.contains("`lowPower`"))
        #expect(message { $0.rate.vbvInitialPercent = 50 }.contains("`vbvInitialPercent`"))
        #expect(category { try open(.reference) { $0.structure.forcedKeyFrames = [-1] } } == .usage)
    }

    /// No remedy advises what `requireHardware` refuses.
    @Test(arguments: [DeviceSelector.path("/dev/dri/renderD999"), .path("/dev/null"), .pci("0000:ff:1f.7"), .software])
    func remediesKeepToRequiredHardware(_ device: DeviceSelector) throws {
        func remedy(_ body: () throws -> Void) -> String? {
            do { try body() } catch { return (error as? any DescribedError)?.remedy }
            return nil
        }
        let configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        let encoding = remedy {
            _ = try CompressionSession(configuration: configuration, device: device, requireHardware: true) { _ in }
        }
        let stream = DecompressionConfiguration(codec: .h264)
        let decoding = remedy { _ = try DecompressionSession(configuration: stream, device: device, requireHardware: true) }
        for text in [encoding, decoding] {
            let text = try #require(text)
            #expect(!text.isEmpty && !text.contains("oftware"), "\(text)")
        }
    }

    /// Other advice in the same remedy is kept.
    @Test(arguments: [
        ("use another `device`, or use `device: .software`", "use another `device`"), ("see `dmesg`, or use `device: .software`", "see `dmesg`"),
        ("use `device: .software`", "leave out `requireHardware`"), ("lower the bit rate", "lower the bit rate"),
        ("this machine has no render node; use `device: .software` (libx264 and libx265)", "this machine has no render node"),
    ]) func requiredHardwareKeepsOtherAdvice(_ remedy: String, _ expected: String) {
        let error = HardwareRequirement.advised(VaencError(.unavailable, "it failed", remedy: remedy))
        #expect((error as? VaencError)?.remedy == expected)
    }

    /// Remedies fit sessions with a source and without one.
    @Test func remediesNameSettingsOfTheLibrary() throws {
        func remedy(_ change: (inout EncoderConfiguration) -> Void) -> String {
            do { try open(.reference, change) } catch { return (error as? any DescribedError)?.remedy ?? "" }
            return ""
        }
        let size = remedy { $0.size = VideoSize(width: 2, height: 2) }
        #expect(size.contains("use a size in this range (`SourceOptions.outputSize` scales the pictures of a source)"), "\(size)")
        #expect(remedy { $0.rate.rateControl = .cbr } == "set `bitrate`, for example to 6M")
    }

    /// A difference from the request is listed, and `strict` refuses it.
    @Test(arguments: [(VideoCodec.h264, "4"), (.hevc, "1")]) func differencesAreListed(_ codec: VideoCodec, _ used: String) throws {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.codec = codec
        configuration.rate.qp = 30
        configuration.coding.slices = 50
        let session = try CompressionSession(configuration: configuration, device: .reference) { _ in }
        let entry = try session.encoderDescription.effective.first { $0.option == "slices" }
        session.invalidate()
        #expect(entry?.asked == "50")
        // A slice has at least a row of blocks, which have 16 samples in H.264 and 64 in HEVC here.
        #expect(entry?.used == used)
        #expect(entry?.differs == true)
        configuration.strict = true
        #expect(
            category {
                let session = try CompressionSession(configuration: configuration, device: .reference) { _ in }
                try session.prepare()
            } == .unavailable)
    }

    /// A request that the mode does not use is a difference too.
    @Test func unusedRequestsAreDifferences() throws {
        for change: (inout EncoderConfiguration) -> Void in [
            {
                $0.rate.bitrate = BitsPerSecond(500_000); $0.rate.rateControl = .vbr
            },
            { $0.rate.quality = 20 },
            { $0.rate.rateControl = .icq },
            {
                $0.rate.qp = nil; $0.rate.quality = 20; $0.rate.rateControl = .cbr; $0.rate.bitrate = BitsPerSecond(500_000)
            },
        ] {
            #expect(category { try open(.reference) { change(&$0) } } == nil)
            #expect(
                category {
                    try open(.reference) {
                        change(&$0); $0.strict = true
                    }
                } == .unavailable)
        }
    }

    /// If no hardware works, `auto` falls back to software with a notice, and `requireHardware` refuses.
    @Test func autoFallsBackWithANotice() throws {
        let hardware = Devices.isHardwareEncodeSupported(.h264)
        var configuration = EncoderConfiguration(size: VideoSize(width: 640, height: 480))
        configuration.rate.qp = 30
        let session = try CompressionSession(configuration: configuration, device: .auto) { _ in }
        defer { session.invalidate() }
        #expect(session.choice.kind == (hardware ? .vaapi : .software))
        #expect((session.choice.notice == nil) == hardware)
        if !hardware {
            #expect(
                category {
                    _ = try CompressionSession(configuration: configuration, device: .auto, requireHardware: true) { _ in }
                } == .unavailable)
        }
    }

    @Test func requiredHardwareExcludesSoftware() {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.rate.qp = 30
        #expect(
            category {
                _ = try CompressionSession(configuration: configuration, device: .software, requireHardware: true) { _ in }
            } == .unavailable)
    }

    @Test func reportsListEveryDevice() throws {
        let reports = Devices.reports()
        let reference = try #require(reports.first { $0.kind == .reference })
        #expect(reference.usable)
        #expect(
            reference.capabilities.filter { $0.codec == .h264 && $0.encodes }.map(\.profile.shortName) == ["Constrained Baseline", "Main", "High"])
        // The reference driver is no hardware, whatever it encodes.
        #expect(!reference.isHardwareEncodeSupported(.h264))
        #expect(reports.last?.kind == .software)
        #expect(Devices.defaultChoice(among: reports).codec == .h264)
        #expect(Devices.defaultChoice(among: []).device == nil)
    }
}
