import EncodeSession
import ReferenceDisplay
import Threads
public import VAAPI
import VideoBase

/// The result of trying a mode that a device advertises.
public struct TrialResult: Sendable, Hashable {
    /// The mode that was tried.
    public var mode: TrialMode
    /// The call that failed, with its status, or a description of another fault; nil if the mode works.
    public var failure: String?
}

extension Devices {
    /// Encodes a few small pictures in each mode that the device's capabilities advertise. Blocks for about 10 ms for
    /// each mode.
    ///
    /// If `DriverTrials.program` exists, other processes run the trials: a driver that ends its process then fails only
    /// that mode.
    ///
    /// - Returns: A list of results for each capability. The list is empty for capabilities that vaenc does not encode
    ///   with.
    public static func verify(_ report: DeviceReport) -> [[TrialResult]] {
        let all = TrialEncode.all(of: report)
        let tried = DriverTrials.verify(all.indices, of: report)
        var results = report.capabilities.map { _ in [TrialResult]() }
        for (index, trial) in all.enumerated() {
            let failure = tried.map { $0[index] ?? "the test of the driver ended before this mode" } ?? trial.failure()
            results[trial.position].append(TrialResult(mode: trial.mode, failure: failure))
        }
        return results
    }
}

/// The trial of one mode. Each trial opens its own display, so that a fault in one trial does not affect the next.
struct TrialEncode {
    var report: DeviceReport
    var capability: Capability
    /// The index of the capability in the report.
    var position: Int
    var profile: CodecProfile
    var mode: TrialMode

    private static let frameCount = 7

    /// Returns the trials for each mode of each capability, in the order of the report.
    static func all(of report: DeviceReport) -> [TrialEncode] {
        guard report.kind != .software else { return [] }
        return report.capabilities.enumerated().flatMap { position, capability in
            guard let profile = profile(capability) else { return [TrialEncode]() }
            return modes(capability).map {
                TrialEncode(report: report, capability: capability, position: position, profile: profile, mode: $0)
            }
        }
    }

    /// Runs the trial. Returns the call that failed, with its status, or a description of another fault; nil if the
    /// mode works.
    func failure() -> String? {
        do {
            try run()
            return nil
        } catch { return (error as? any DescribedError)?.message ?? "\(error)" }
    }

    static func profile(_ capability: Capability) -> CodecProfile? {
        capability.encodes ? capability.profile.codecProfile : nil
    }

    static func modes(_ capability: Capability) -> [TrialMode] {
        var modes = capability.rateControl.map { TrialMode.rateControl($0) }
        if capability.bFrames { modes.append(.bFrames) }
        if (capability.maxReferences?.l0 ?? 0) > 1 { modes.append(.maxReferences) }
        if (capability.maxSlices ?? 1) > 1 { modes.append(.maxSlices) }
        if (capability.qualityLevels ?? 1) > 1 { modes.append(.qualityLevels) }
        if capability.maxRegions > 0 { modes.append(.regionsOfInterest) }
        if !capability.intraRefresh.isDisjoint(with: [.rollingColumn, .rollingRow]) { modes.append(.intraRefresh) }
        return modes
    }

    /// The best, the middle and the fastest preset: some drivers reject some presets.
    private static let presets = [1, 4, 7]

    private func configuration(preset: Int? = nil) -> EncoderConfiguration {
        func side(_ least: Int?, _ wanted: Int) -> Int { max(least ?? 0, wanted).aligned(to: 16) }
        // Quality levels search motion in downscaled copies of a picture, if it is large enough for them. Two slices
        // need enough rows if a block has 64 samples.
        let isSmall = report.kind == .reference && mode != .maxSlices
        let least =
            isSmall
            ? VideoSize(width: 128, height: 128)
            : preset == nil ? VideoSize(width: 320, height: 192) : VideoSize(width: 640, height: 368)
        var c = EncoderConfiguration(
            size: VideoSize(
                width: side(capability.minWidth, least.width), height: side(capability.minHeight, least.height)))
        c.frameRate = Rational(25)
        c.codec = profile.codec
        c.profile = profile
        c.inputFormat = profile.bitDepth > 8 ? .p010 : .nv12
        c.lowPower = capability.entryPoint == .encodeSliceLowPower
        c.structure.gopFrames = 8
        c.structure.bFrames = 0
        // Try exactly the advertised values, not the nearest supported ones.
        c.strict = true
        let rate: RateControlMode =
            if case .rateControl(let advertised) = mode {
                advertised
            } else {
                (capability.rateControl.contains(.cqp) ? .cqp : capability.rateControl.first) ?? .cqp
            }
        c.rate.rateControl = rate
        c.coding.preset = preset
        switch rate {
        case .cqp: c.rate.qp = 30
        case .icq: c.rate.quality = 30
        case .cbr, .vbr, .avbr: c.rate.bitrate = BitsPerSecond(400_000)
        case .qvbr:
            c.rate.bitrate = BitsPerSecond(400_000)
            c.rate.quality = 30
        }
        if [.cbr, .vbr, .avbr, .qvbr].contains(rate) { c.rate.rateController = .driver }
        switch mode {
        case .rateControl, .qualityLevels: break
        case .bFrames: c.structure.bFrames = 2
        case .maxReferences: c.structure.references = 2
        case .maxSlices: c.coding.slices = 2
        case .regionsOfInterest:
            c.coding.regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 32, height: 32, qpDelta: -5)]
        case .intraRefresh: c.structure.intraRefresh = true
        }
        return c
    }

    private func open() throws -> Display {
        switch report.kind {
        case .vaapi: try Display.open(renderNode: report.path ?? "")
        default: try ReferenceDisplay.open()
        }
    }

    func run() throws {
        guard mode == .qualityLevels else { return try encode(configuration()) }
        for preset in Self.presets {
            do { try encode(configuration(preset: preset)) } catch {
                let why = (error as? any DescribedError)?.message ?? "\(error)"
                throw VaencError(.deviceFailed, "preset \(preset): \(why)")
            }
        }
    }

    private func encode(_ configuration: EncoderConfiguration) throws {
        let display = try open()
        var limits = RecoveryLimits.of(display.kind)
        limits.setUpTries = 1
        limits.failuresInARow = 1
        limits.pictureNanoseconds = min(limits.pictureNanoseconds, 20_000_000_000)
        let packets = Monitor<[EncodedPacket]>([])
        let encoder = try HardwareEncoder(display: display, configuration: configuration, limits: limits) { result in
            if case .success(let packet) = result { packets.withLock { $0.append(packet) } }
        }
        defer { encoder.invalidate() }
        try Self.feed(encoder)
        try judge(packets.withLock { $0 })
    }

    /// Encodes a few pictures of NV12 or P010.
    static func feed(_ encoder: any VideoEncoder) throws {
        try encoder.prepare()
        for index in 0..<frameCount {
            let buffer = try encoder.makePixelBuffer()
            try unsafe buffer.withUnsafePlanes { planes in unsafe draw(index, into: planes) }
            let time = MediaTime(value: Int64(index), timescale: 25)
            try encoder.encode(buffer, timing: FrameTiming(presentation: time), options: FrameOptions())
        }
        try encoder.completeFrames(until: nil)
    }

    private func judge(_ packets: [EncodedPacket]) throws {
        func fail(_ message: String) -> VaencError { VaencError(.deviceFailed, message) }
        guard packets.count == Self.frameCount else {
            throw fail("the encoder returned \(packets.count) of \(Self.frameCount) pictures")
        }
        guard packets[0].isKey else { throw fail("the first picture is not a key frame") }
        if mode == .bFrames, !packets.contains(where: { $0.type == .b }) {
            throw fail("the encoder returned no B picture")
        }
    }

    /// Draws a moving gradient in NV12 or P010.
    @unsafe private static func draw(_ index: Int, into planes: PixelPlanes) {
        // SAFETY: rows and columns stay inside the visible size, which the planes contain.
        let size = unsafe planes.size
        let isDeep = unsafe planes.format.bitDepth > 8
        func store(_ value: Int, at x: Int, in row: UnsafeMutableRawPointer) {
            let sample = UInt8(truncatingIfNeeded: value)
            if isDeep {
                // P010 stores a sample in the high bits.
                unsafe row.storeBytes(of: UInt16(sample) << 8 | 0x40, toByteOffset: 2 * x, as: UInt16.self)
            } else {
                unsafe row.storeBytes(of: sample, toByteOffset: x, as: UInt8.self)
            }
        }
        for y in 0..<size.height {
            let row = unsafe planes.base(0) + y * planes.pitch(0)
            for x in 0..<size.width { unsafe store(x + 2 * y + 5 * index, at: x, in: row) }
        }
        for y in 0..<size.height / 2 {
            let row = unsafe planes.base(1) + y * planes.pitch(1)
            for x in 0..<size.width { unsafe store(96 + x / 2, at: x, in: row) }
        }
    }
}
