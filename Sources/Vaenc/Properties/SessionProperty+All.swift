import SoftwareEncode
import VAAPI
public import VideoBase

// Rate and quality.

extension SessionProperty where Value == BitsPerSecond {
    /// The average bit rate of the stream, 1000…4·10⁹ bit/s; in CBR, the constant bit rate. Default: none; CBR, VBR and
    /// AVBR need it.
    public static var averageBitRate: Self {
        Self("AverageBitRate", \.rate.bitrate, change: \.bitrate) { .whole($0.rates) }.withinBitrates()
    }

    /// The maximum bit rate in any second, 1000…4·10⁹ bit/s. Default: 1.5 times `averageBitRate`, limited by the level.
    public static var maxBitRate: Self {
        Self("VBVMaxBitRate", \.rate.maxBitrate, change: \.maxBitrate) { .whole($0.maxRates) }.withinBitrates()
    }
}

extension SessionProperty where Value == [DataRateLimit] {
    /// Limits on the number of bytes in any period of a given length. All limits apply at the same time. Default: none;
    /// on a device, a limit of one second for H.264 without B frames, except in CBR.
    public static var dataRateLimits: Self {
        Self(
            "DataRateLimits",
            { capabilities in
                if let count = capabilities.dataRateLimits { return .elements(upTo: count, each: DataRateLimit.fieldCount) }
                return capabilities.controlsRate ? .any : nil
            },
            read: { $0.rate.dataRateLimits }, write: { $0.rate.dataRateLimits = $1 ?? [] }, change: { $0.dataRateLimits = $1 },
            check: { limits, _ in for limit in limits { try Validation.validate(limit) } })
    }
}

extension SessionProperty where Value == [RegionOfInterest] {
    /// The regions of interest of each frame. `FrameOptions.regionsOfInterest` replaces them for a frame. Default:
    /// none.
    public static var regionsOfInterest: Self {
        Self(
            "RegionsOfInterest",
            { capabilities in
                guard let count = capabilities.regions else { return .any }
                return count > 0 ? .elements(upTo: count, each: RegionOfInterest.fieldCount) : nil
            },
            read: { $0.coding.regionsOfInterest }, write: { $0.coding.regionsOfInterest = $1 ?? [] },
            check: { regions, configuration in
                for region in regions { try Validation.validate(region, in: configuration.size) }
            })
    }
}

extension SessionProperty where Value == RateControlMode {
    /// The rate control mode. Default: VBR with `averageBitRate`; constant QP with a QP; otherwise constant quality.
    public static var rateControl: Self {
        Self("RateControl", \.rate.rateControl) { .names($0.modes.map(\.rawValue)) }
    }
}

extension SessionProperty where Value == RateControlOwner {
    /// The component that controls the rate: the driver, or vaenc by setting the QP of each picture. Default: the
    /// driver if it supports the mode and the limits.
    public static var rateController: Self {
        Self("RateControlOwner", \.rate.rateController) {
            $0.controllers.isEmpty ? nil : .names($0.controllers.map(\.rawValue))
        }
    }
}

// Structure and pictures.

extension SessionProperty where Value == Rational {
    /// The number of frames per second that rate control uses and that the stream declares, 0.001…1000. Default: 30.
    public static var expectedFrameRate: Self {
        Self(
            "ExpectedFrameRate", { .range(0.001, $0.highestFrameRate) }, read: { $0.frameRate },
            write: { $0.frameRate = $1 ?? Rational(30) }, change: { $0.frameRate = $1 },
            check: { rate, _ in try Validation.validate(frameRate: rate) })
    }

    /// The width of a sample divided by its height, each 1…65535 once reduced. Default: unknown.
    public static var pixelAspectRatio: Self {
        Self(
            "PixelAspectRatio", { _ in .any }, read: { $0.display.sampleAspectRatio }, write: { $0.display.sampleAspectRatio = $1 },
            check: { ratio, _ in try Validation.validate(sampleAspectRatio: ratio) })
    }
}

extension SessionProperty where Value == MasteringDisplay {
    /// The display that the pictures were mastered on. Written with each key frame. Default: none.
    public static var masteringDisplay: Self { Self("MasteringDisplayColorVolume", \.display.masteringDisplay) { _ in .any } }
}

extension SessionProperty where Value == ContentLight {
    /// The brightness of the content (MaxCLL and MaxFALL). Written with each key frame. Default: none.
    public static var contentLight: Self { Self("ContentLightLevelInfo", \.display.contentLight) { _ in .any } }
}

extension SessionProperty where Value == Duration {
    /// The maximum time from an intra picture to the next: more than 0, and at most a day. Default:
    /// `maxKeyFrameInterval`, or 5 seconds.
    public static var maxKeyFrameIntervalDuration: Self {
        Self("MaxKeyFrameIntervalDuration", \.structure.gopDuration) { _ in .range(0.001, 86400) }.above0(upTo: 86400)
    }
}

extension SessionProperty where Value == CodecProfile {
    /// The profile of the stream. Default: High (H.264), or the profile of the sample depth (HEVC), if the device
    /// supports it.
    public static var profile: Self {
        Self("Profile", \.profile) { .names($0.profiles.map(\.rawValue)) }
    }
}

extension SessionProperty where Value == Tier {
    /// The HEVC tier, which determines the maximum bit rate and buffer size of a level. Default: Main, unless the bit
    /// rate or the buffer needs the level's High tier.
    public static var tier: Self {
        Self("Tier", \.tier) { $0.tiers.isEmpty ? nil : .names($0.tiers.map(\.rawValue)) }
    }
}

extension SessionProperty where Value == EntropyCoder {
    /// The entropy coder of H.264: CAVLC or CABAC. Default: CABAC; CAVLC in the Constrained Baseline profile.
    public static var h264EntropyMode: Self {
        Self("H264EntropyMode", \.coding.entropy) { $0.codec.entropyCoders.count > 1 ? .names($0.entropyCoders.map(\.rawValue)) : nil }
    }
}

extension SessionProperty where Value == Bool {
    /// Whether B frames may be used. Setting false sets `bFrameCount` to 0. Default: true, except if the encoder's
    /// default has no B frames.
    public static var allowFrameReordering: Self {
        Self(
            "AllowFrameReordering", { _ in .any }, read: { $0.structure.bFrames.map { $0 > 0 } ?? $0.structure.allowsBFrames },
            write: { configuration, value in
                configuration.structure.allowsBFrames = value == true ? true : nil
                switch value {
                case false?: configuration.structure.bFrames = 0
                default: if configuration.structure.bFrames == 0 { configuration.structure.bFrames = nil }
                }
            })
    }

    /// Whether P and B frames may be used. Setting false makes each frame a key frame. Default: true.
    public static var allowTemporalCompression: Self {
        Self(
            "AllowTemporalCompression", { _ in .any }, read: { $0.structure.gopFrames.map { $0 > 1 } ?? $0.structure.allowsPFrames },
            write: { configuration, value in
                configuration.structure.allowsPFrames = value == true ? true : nil
                switch value {
                case false?: configuration.structure.gopFrames = 1
                default: if configuration.structure.gopFrames == 1 { configuration.structure.gopFrames = nil }
                }
            })
    }

    /// Whether B pictures that precede an I picture in display order may predict from pictures before them. Default:
    /// false.
    public static var allowOpenGOP: Self {
        Self("AllowOpenGOP", { $0.bFrames ? .any : nil }, read: { $0.structure.openGOP }, write: { $0.structure.openGOP = $1 ?? false })
    }

    /// Whether long-term references are kept, for `FrameOptions.refreshFromLongTerm`. Two references are kept, so that
    /// a new one does not replace the acknowledged one; one is kept if the device or `referenceBufferCount` allows no
    /// more. `longTermReferences` sets another number.
    public static var enableLTR: Self {
        Self(
            "EnableLTR", { $0.longTermReferences > 0 ? .any : nil }, read: { $0.structure.longTermReferences.map { $0 > 0 } },
            write: { configuration, value in
                switch value {
                case true?:
                    if (configuration.structure.longTermReferences ?? 0) == 0 {
                        configuration.structure.longTermReferences = max(min(2, configuration.structure.references ?? 2), 1)
                    }
                case false?: configuration.structure.longTermReferences = 0
                case nil: configuration.structure.longTermReferences = nil
                }
            })
    }

    /// Whether frames arrive in real time. If true, the encoder uses its fastest preset, unless `preset` is set.
    /// Default: false.
    public static var realTime: Self { Self("RealTime", \.pipeline.realTime) { $0.hasPresets ? .any : nil } }

    /// Whether each packet is delivered before the next frame is accepted. Default: false.
    public static var lowLatency: Self {
        Self("EnableLowLatencyRateControl", { _ in .any }, read: { $0.pipeline.lowLatency }, write: { $0.pipeline.lowLatency = $1 ?? false })
    }

    /// Whether Intel's low-power entry point (EncSliceLP) is used. Default: only if the device has no other.
    public static var maximizePowerEfficiency: Self {
        Self("MaximizePowerEfficiency", \.lowPower) { $0.hasLowPower ? $0.hasFullPower ? .any : .only(true) : nil }
    }

    /// Whether B pictures may be references of other B pictures. Default: true from three B pictures on; in software,
    /// from two on.
    public static var bPyramid: Self { Self("BPyramid", \.structure.bPyramid) { $0.bPyramid ? .any : nil } }
    /// Whether the 8×8 transform of H.264 is used. Default: true in the High profile.
    public static var transform8x8: Self { Self("Transform8x8", \.coding.transform8x8) { $0.transform8x8 ? .any : nil } }
    /// Whether rate–distortion optimized quantization is used. Default: the driver's choice.
    public static var trellis: Self { Self("Trellis", \.coding.trellis) { $0.trellis ? .any : nil } }
    /// Whether the driver may change the QP inside a picture. Default: the driver's choice.
    public static var macroblockRateControl: Self {
        Self("MacroblockRateControl", \.rate.macroblockRateControl) { $0.macroblockRateControl ? .any : nil }
    }
    /// Whether HRD parameters, and buffering period and picture timing SEI messages, are written. Default: true if the
    /// rate control maintains a buffer; in software, only with CBR of libx264.
    public static var hrdParameters: Self { Self("HRDParameters", \.headers.hrdParameters) { $0.hasRate ? .any : nil } }
    /// Whether an SEI message with the encoder's name and version is written at each key frame. Default: true.
    public static var identifier: Self { Self("Identifier", \.headers.identifier) { $0.canBeAnonymous ? .any : .only(true) } }

    /// Whether intra-coded columns or rows move through the picture instead of key frames. Default: false.
    public static var intraRefresh: Self {
        Self(
            "IntraRefresh", { $0.intraRefresh ? .any : nil },
            read: { $0.structure.intraRefresh }, write: { $0.structure.intraRefresh = $1 ?? false })
    }

    /// Whether an access unit delimiter is written before each picture. Default: false.
    public static var accessUnitDelimiters: Self {
        Self(
            "AccessUnitDelimiters", { _ in .any }, read: { $0.headers.accessUnitDelimiters },
            write: { $0.headers.accessUnitDelimiters = $1 ?? false })
    }

    /// Whether a difference between the requested and the effective configuration is an error. Default: false.
    public static var strict: Self {
        Self("Strict", { _ in .any }, read: { $0.strict }, write: { $0.strict = $1 ?? false })
    }
}

extension SessionProperty where Value == Int {
    /// The target of the quality modes, on the QP scale: 1 is the best, 51 the worst. Default: 24.
    public static var quality: Self {
        Self("Quality", \.rate.quality) { $0.aimsAtQuality ? .whole(SettingRange.quality) : nil }.within(SettingRange.quality)
    }
    /// The QP of P pictures with constant QP, 0…51. Default: `quality`.
    public static var qp: Self {
        Self("QP", \.rate.qp, change: \.qp) { $0.hasConstantQP ? .whole($0.qps) : nil }.within(SettingRange.qp)
    }
    /// The QP of I pictures with constant QP, 0…51. Default: `qp` − 3; in software, `qp`.
    public static var qpI: Self {
        Self("QPOfIFrames", \.rate.qpI) { $0.choosesQP ? .whole($0.qps) : nil }.within(SettingRange.qp)
    }
    /// The QP of B pictures with constant QP, 0…51. Default: `qp` + 2; in software, `qp`.
    public static var qpB: Self {
        Self("QPOfBFrames", \.rate.qpB) { $0.choosesQP && $0.bFrames ? .whole($0.qps) : nil }.within(SettingRange.qp)
    }
    /// The minimum QP of a picture, 0…51. Default: the limit of the driver or the library.
    public static var minAllowedFrameQP: Self {
        Self("MinAllowedFrameQP", \.rate.minQP, change: \.minQP) { _ in .whole(SettingRange.qp) }.within(SettingRange.qp)
    }
    /// The maximum QP of a picture, 0…51. Default: the limit of the driver or the library.
    public static var maxAllowedFrameQP: Self {
        Self("MaxAllowedFrameQP", \.rate.maxQP, change: \.maxQP) { _ in .whole(SettingRange.qp) }.within(SettingRange.qp)
    }
    /// The size of the coded picture buffer, 1000…4·10⁹ bits. Default: one second at the maximum bit rate, or one frame
    /// interval if that is longer.
    public static var vbvBufferSize: Self {
        Self("VBVBufferSize", \.rate.vbvSize) { .whole($0.buffers) }.within(Validation.bitrates)
    }
    /// The fullness of the coded picture buffer when decoding begins, 0…100 percent. Default: 75; in software 90.
    public static var vbvInitialDelayPercentage: Self {
        Self("VBVInitialDelayPercentage", \.rate.vbvInitialPercent) { $0.hasRate ? .whole(SettingRange.percent) : nil }.within(SettingRange.percent)
    }
    /// The maximum size of an access unit, 100…2²⁸ bytes. Default: no limit.
    public static var maxFrameBytes: Self {
        Self("MaxFrameBytes", \.rate.maxFrameBytes) { $0.limitsFrameBytes ? .whole(SettingRange.frameBytes) : nil }
            .within(SettingRange.frameBytes)
    }
    /// The maximum size of a slice NAL unit, 64…2²⁸ bytes. Default: no limit.
    public static var maxSliceBytes: Self {
        Self("MaxH264SliceBytes", \.rate.maxSliceBytes) { .whole($0.sliceBytes) }.within(SettingRange.sliceBytes)
    }
    /// The speed preset: 1 is the best quality, 7 the fastest. Default: the driver's default; 4 in software; 7 with
    /// `realTime`.
    public static var preset: Self {
        Self("Preset", \.coding.preset) { $0.hasPresets ? .whole(SettingRange.preset) : nil }.within(SettingRange.preset)
    }
    /// The maximum distance from an intra picture to the next, 1…2³¹ − 1 frames. Default:
    /// `maxKeyFrameIntervalDuration`, or 5 seconds.
    public static var maxKeyFrameInterval: Self {
        Self("MaxKeyFrameInterval", \.structure.gopFrames) { .whole($0.keyIntervals) }.within(SettingRange.gopFrames)
    }
    /// The number of intra pictures from an IDR picture to the next, 1…2³¹ − 1. Default: 1, so that each intra picture
    /// is an IDR picture; with an open GOP, only the first one is.
    public static var idrInterval: Self {
        Self("IDRInterval", \.structure.idrInterval) { .whole($0.idrIntervals) }.within(SettingRange.idrInterval)
    }
    /// The number of B pictures between two other pictures, 0…7. Default: 2 if the device supports them; 0 with low
    /// latency, long-term references, temporal layers or intra refresh.
    public static var bFrameCount: Self {
        Self("BFrameCount", \.structure.bFrames) { .whole(0...($0.bFrames ? 7 : 0)) }.within(SettingRange.bFrames)
    }
    /// The maximum number of reference pictures in list 0, 1…16. Default: 1, or `longTermReferences` if that is more;
    /// in software, the library's default.
    public static var referenceBufferCount: Self {
        Self("ReferenceBufferCount", \.structure.references) { .whole(1...$0.references) }.within(SettingRange.references)
    }
    /// The number of temporal layers, 1…4. Default: 1.
    public static var temporalLayers: Self {
        Self("TemporalLayers", \.structure.temporalLayers) { $0.temporalLayers > 1 ? .whole(1...$0.temporalLayers) : nil }
            .within(SettingRange.temporalLayers)
    }
    /// The number of long-term references that are kept, 0…15. Default: 0.
    public static var longTermReferences: Self {
        Self("LongTermReferences", \.structure.longTermReferences) {
            $0.longTermReferences > 0 ? .whole(0...$0.longTermReferences) : nil
        }.within(SettingRange.longTermReferences)
    }
    /// The number of slices in a picture, 1…4096, limited by the device and the level. Default: 1.
    public static var slices: Self { Self("Slices", \.coding.slices) { .choice($0.slices) }.within(SettingRange.slices) }
    /// The number of frames, 0…64, that the encoder may hold before it delivers the first packet. Default: no limit; 0
    /// with `lowLatency`.
    public static var maxFrameDelayCount: Self {
        Self("MaxFrameDelayCount", \.pipeline.maxFrameDelay) { _ in .whole(SettingRange.maxFrameDelay) }.within(SettingRange.maxFrameDelay)
    }
    /// The number of bits of a coded sample, 8 or 10. Default: the depth of the profile; without a profile, that of the
    /// input if the codec supports it.
    public static var bitDepth: Self {
        Self(
            "OutputBitDepth", { .choice($0.bitDepths) }, read: { $0.bitDepth }, write: { $0.bitDepth = $1 },
            check: { depth, _ in try Validation.validate(bitDepth: depth, profile: nil, codec: .hevc) })
    }
    /// The number of frames in flight, 1…64. Default: 2; in software 4; 1 with `lowLatency`.
    public static var asyncDepth: Self {
        Self("AsyncDepth", \.pipeline.asyncDepth) { _ in .whole(SettingRange.asyncDepth) }.within(SettingRange.asyncDepth)
    }
    /// The color primaries: a code point of ITU-T H.273. Default: 2 (unspecified).
    public static var colorPrimaries: Self {
        color("ColorPrimaries", field: \.primaries, highest: SoftwareColor.primaries)
    }
    /// The transfer function: a code point of ITU-T H.273. Default: 2 (unspecified).
    public static var transferFunction: Self {
        color("TransferFunction", field: \.transfer, highest: SoftwareColor.transfer)
    }
    /// The matrix coefficients: a code point of ITU-T H.273, except 0 (RGB). Default: 2 (unspecified).
    public static var yCbCrMatrix: Self {
        color("YCbCrMatrix", field: \.matrix, highest: SoftwareColor.matrix, hasRGB: false)
    }

    private static func color(
        _ name: String, field: any WritableKeyPath<ColorDescription, UInt8> & Sendable, highest: Int,
        hasRGB: Bool = true
    ) -> Self {
        Self(
            name, { .choice($0.colorCodes(upTo: highest).filter { hasRGB || $0 != 0 }) }, read: { Int($0.display.color[keyPath: field]) },
            write: { $0.display.color[keyPath: field] = $1.map { UInt8(clamping: $0) } ?? 2 })
    }
}

extension AnyProperty {
    /// All properties that can be set, in the order in which they are listed.
    static let all: [AnyProperty] = [
        AnyProperty(.averageBitRate), AnyProperty(.maxBitRate), AnyProperty(.dataRateLimits), AnyProperty(.rateControl),
        AnyProperty(.rateController), AnyProperty(.vbvBufferSize), AnyProperty(.vbvInitialDelayPercentage),
        AnyProperty(.quality), AnyProperty(.qp), AnyProperty(.qpI), AnyProperty(.qpB), AnyProperty(.minAllowedFrameQP),
        AnyProperty(.maxAllowedFrameQP), AnyProperty(.maxFrameBytes), AnyProperty(.maxSliceBytes),
        AnyProperty(.regionsOfInterest), AnyProperty(.macroblockRateControl), AnyProperty(.trellis),
        AnyProperty(.preset), AnyProperty(.hrdParameters), AnyProperty(.expectedFrameRate),
        AnyProperty(.maxKeyFrameInterval), AnyProperty(.maxKeyFrameIntervalDuration), AnyProperty(.idrInterval),
        AnyProperty(.allowOpenGOP), AnyProperty(.allowTemporalCompression), AnyProperty(.allowFrameReordering),
        AnyProperty(.bFrameCount), AnyProperty(.bPyramid), AnyProperty(.referenceBufferCount), AnyProperty(.enableLTR),
        AnyProperty(.longTermReferences), AnyProperty(.temporalLayers), AnyProperty(.intraRefresh),
        AnyProperty(.slices), AnyProperty(.transform8x8), AnyProperty(.h264EntropyMode), AnyProperty(.profile),
        AnyProperty(.level), AnyProperty(.tier), AnyProperty(.bitDepth), AnyProperty(.colorPrimaries), AnyProperty(.transferFunction),
        AnyProperty(.yCbCrMatrix),
        AnyProperty(.masteringDisplay), AnyProperty(.contentLight), AnyProperty(.pixelAspectRatio), AnyProperty(.accessUnitDelimiters),
        AnyProperty(.identifier),
        AnyProperty(.maxFrameDelayCount), AnyProperty(.asyncDepth), AnyProperty(.lowLatency), AnyProperty(.realTime),
        AnyProperty(.maximizePowerEfficiency), AnyProperty(.strict),
    ]
}

extension SessionProperty where Value == CodecLevel {
    /// The level. Default: the lowest level that holds the stream. As a `PropertyValue`, it is an integer in tenths, 9…62:
    /// 41 is level 4.1, and 9 is level 1b.
    public static var level: Self {
        Self("Level", { .choice($0.levels) }, read: { $0.level }, write: { $0.level = $1 }).within(9...62)
    }
}
