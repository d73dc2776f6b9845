import EncodePlanning
import H264Syntax
import NALUnits
import VideoBase

/// The headers of a whole H.264 stream, as values and as NAL units.
struct H264StreamHeaders: Sendable {
    let sps: SequenceParameterSet
    let pps: PictureParameterSet
    /// The SPS as a NAL unit without a start code.
    let spsUnit: [UInt8]
    /// The PPS as a NAL unit without a start code.
    let ppsUnit: [UInt8]
    let messages: StreamMessages
    let accessUnitDelimiters: Bool
    /// The decoder buffer that the stream signals; nil if it signals none.
    let buffer: BufferModel?
    let hasLayers: Bool

    init(_ settings: EncodeSettings, _ tools: H264Tools, _ level: Level) {
        let intraOnly = settings.structure.keyInterval == 1
        var vui = VUIParameters(
            sampleAspectRatio: settings.sampleAspectRatio, color: settings.color, frameRate: settings.frameRate,
            fixed_frame_rate_flag: settings.hasFixedFrameRate, max_num_reorder_frames: settings.structure.reorderDepth,
            max_dec_frame_buffering: settings.structure.storage)
        buffer = settings.buffer
        vui.nal_hrd_parameters = settings.buffer.map {
            HRDParameters(bitrate: BitsPerSecond($0.bitrate), cpbSize: $0.size, isConstant: $0.isConstant)
        }
        var sps = SequenceParameterSet(
            profile: settings.profile, level: level, size: settings.size, codedSize: settings.grid.coded,
            references: settings.structure.storage, hasBFrames: settings.structure.bFrames > 0, vui: vui)
        sps.gaps_in_frame_num_value_allowed_flag = settings.structure.allowsFrameNumGaps
        self.sps = sps
        var pps = PictureParameterSet(
            profile: settings.profile, entropy: tools.entropy, transform8x8: tools.transform8x8,
            qp: intraOnly ? settings.qpI : settings.qpP, references: settings.structure.references)
        pps.num_ref_idx_default_active[1] = settings.structure.bFrames > 0 ? settings.structure.references1 : 1
        self.pps = pps
        spsUnit = sps.unit
        ppsUnit = pps.unit
        messages = StreamMessages(settings)
        accessUnitDelimiters = settings.accessUnitDelimiters
        hasLayers = settings.structure.temporalLayers > 1
    }

    /// Returns the NAL units that precede a picture's slices, in the order of 7.4.1.2.3.
    ///
    /// - Parameter delay: The removal delay if a buffering period begins with the picture; nil signals a full decoder
    ///   buffer.
    func leading(
        _ plan: FramePlan, options: FrameOptions, clock: PictureClock, delay: SEIMessage.InitialRemovalDelay? = nil
    ) -> LeadingUnits {
        var units = LeadingUnits()
        if accessUnitDelimiters { units.delimiter = AccessUnitDelimiter.unit(for: plan.type.sliceType) }
        // Decoding can also start at a recovery point.
        if plan.beginsBufferingPeriod { units.parameterSets = [spsUnit, ppsUnit] }
        let messages = timing(plan, clock, delay: delay) + self.messages.messages(plan, options)
        if !messages.isEmpty { units.information = SEIMessage.unit(messages) }
        return units
    }

    /// Returns the timing messages. buffering_period comes first (7.4.1.2.3).
    private func timing(
        _ plan: FramePlan, _ clock: PictureClock, delay: SEIMessage.InitialRemovalDelay?
    ) -> [SEIMessage] {
        var messages: [SEIMessage] = []
        if sps.vui?.nal_hrd_parameters != nil, let buffer {
            if plan.beginsBufferingPeriod {
                messages.append(
                    .bufferingPeriod(sps, nal: delay ?? SEIMessage.InitialRemovalDelay(delay: buffer.longestDelay, offset: 0)))
            }
            // A frame has two ticks.
            messages.append(
                .pictureTiming(sps, removalDelay: clock.removal * 2, outputDelay: clock.output * 2))
        }
        if !plan.type.isKey, let count = plan.recoveryFrameCount {
            // After an intra refresh, the pictures are approximate, not exact: exact_match_flag is 0.
            messages.append(.recoveryPoint(frameCount: count, isExact: plan.type == .i))
        }
        return messages
    }

    /// Returns the NAL unit that precedes each slice to signal the picture's layer; nil if there is only one layer.
    func prefix(_ plan: FramePlan, nal_ref_idc: UInt8) -> [UInt8]? {
        hasLayers
            ? PrefixUnit.unit(nal_ref_idc: nal_ref_idc, isIDR: plan.type == .idr, temporalLayer: plan.temporalLayer)
            : nil
    }
}

extension PictureType {
    var sliceType: SliceType {
        switch self {
        case .idr, .i: .i
        case .p: .p
        case .b: .b
        }
    }
}
