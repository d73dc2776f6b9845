import EncodePlanning
import HEVCSyntax
import NALUnits
import VideoBase

/// The headers of a whole HEVC stream, as values and as NAL units.
struct HEVCStreamHeaders: Sendable {
    let vps: VideoParameterSet
    let sps: SequenceParameterSet
    let pps: PictureParameterSet
    /// VPS, SPS and PPS as NAL units without start codes.
    let units: [[UInt8]]
    let messages: StreamMessages
    let accessUnitDelimiters: Bool
    /// The decoder buffer that the stream signals; nil if it signals none.
    let buffer: BufferModel?
    /// Whether P pictures use B slices with two equal lists.
    let hasTwoLists: Bool

    init(_ settings: EncodeSettings, _ tools: HEVCTools, _ level: Level, _ tier: Tier) {
        let structure = settings.structure
        buffer = settings.buffer
        hasTwoLists = tools.hasTwoLists
        // All sub-layers signal the maximum of the whole stream.
        let ordering = SubLayerOrdering(
            max_dec_pic_buffering: structure.storage + 1, max_num_reorder_pics: structure.reorderDepth)
        let subLayers = [SubLayerOrdering](repeating: ordering, count: structure.temporalLayers)
        sps = Self.sequenceSet(settings, level, tier, limits: tools.limits, subLayers: subLayers)
        vps = VideoParameterSet(
            profileTierLevel: ProfileTierLevel(profile: settings.profile, tier: tier, level: level),
            subLayers: subLayers)
        pps = Self.pictureSet(settings, tools)
        units = [vps.unit, sps.unit, pps.unit]
        messages = StreamMessages(settings)
        accessUnitDelimiters = settings.accessUnitDelimiters
    }

    private static func sequenceSet(
        _ settings: EncodeSettings, _ level: Level, _ tier: Tier, limits: HEVCCapabilities, subLayers: [SubLayerOrdering]
    ) -> SequenceParameterSet {
        var vui = VUIParameters(
            sampleAspectRatio: settings.sampleAspectRatio, color: settings.color, frameRate: settings.frameRate)
        vui.hrd = settings.buffer.map {
            HRDParameters(
                bitrate: BitsPerSecond($0.bitrate), cpbSize: $0.size, isConstant: $0.isConstant,
                fixed_pic_rate_general_flag: settings.hasFixedFrameRate)
        }
        // DriverQuirk.findsHRDAfterTicks. The value is correct, because picture order counts rise
        // by one per frame.
        if vui.hrd != nil, settings.hasFixedFrameRate { vui.vui_num_ticks_poc_diff_one = 1 }
        var sps = SequenceParameterSet(
            profile: settings.profile, tier: tier, level: level, size: settings.size, codedSize: settings.grid.coded,
            subLayers: subLayers, vui: vui)
        sps.log2_max_pic_order_cnt_lsb = log2MaxPicOrderCntLsb(settings.structure)
        sps.log2_min_luma_coding_block_size = limits.log2MinCodingBlock
        sps.log2_diff_max_min_luma_coding_block_size = limits.log2CodingTreeBlock - limits.log2MinCodingBlock
        sps.log2_min_luma_transform_block_size = limits.log2MinTransformBlock
        sps.log2_diff_max_min_luma_transform_block_size = limits.log2MaxTransformBlock - limits.log2MinTransformBlock
        sps.max_transform_hierarchy_depth_inter = limits.transformDepthInter
        sps.max_transform_hierarchy_depth_intra = limits.transformDepthIntra
        sps.amp_enabled_flag = limits.amp
        sps.sample_adaptive_offset_enabled_flag = limits.sao
        sps.sps_temporal_mvp_enabled_flag = limits.temporalMVP
        sps.strong_intra_smoothing_enabled_flag = limits.strongIntraSmoothing
        sps.long_term_ref_pics_present_flag = settings.structure.longTermReferences > 0
        return sps
    }

    private static func pictureSet(_ settings: EncodeSettings, _ tools: HEVCTools) -> PictureParameterSet {
        let structure = settings.structure
        let (limits, filter) = (tools.limits, settings.deblocking)
        var pps = PictureParameterSet(
            qp: structure.keyInterval == 1 ? settings.qpI : settings.qpP, references: structure.references)
        pps.num_ref_idx_default_active[1] = tools.hasTwoLists ? structure.references : structure.references1
        if tools.cuQPDelta {
            pps.diff_cu_qp_delta_depth = limits.log2CodingTreeBlock - limits.log2MinCodingBlock
        }
        pps.transform_skip_enabled_flag = limits.needsTransformSkip
        pps.sign_data_hiding_enabled_flag = limits.needsSignDataHiding
        pps.constrained_intra_pred_flag = limits.needsConstrainedIntra
        pps.pps_loop_filter_across_slices_enabled_flag = settings.sliceRows.count > 1
        pps.pps_deblocking_filter_disabled_flag = !filter.isOn
        if filter.isOn {
            pps.pps_tc_offset_div2 = filter.alphaOffset
            pps.pps_beta_offset_div2 = filter.betaOffset
        }
        // Only long-term references make a list differ from its initial order.
        pps.lists_modification_present_flag = structure.longTermReferences > 0
        return pps
    }

    /// Returns log2 of MaxPicOrderCntLsb. recovery_poc_cnt must stay below half of MaxPicOrderCntLsb.
    private static func log2MaxPicOrderCntLsb(_ structure: GOPStructure) -> Int {
        var bits = 8
        while bits < 16, 1 << (bits - 1) <= structure.intraRefreshSteps ?? 0 { bits += 1 }
        return bits
    }

    /// Returns the NAL units that precede a picture's slices, in the order of 7.4.2.4.4.
    ///
    /// - Parameter delay: The removal delay if a buffering period begins with the picture; nil signals a full decoder
    ///   buffer.
    func leading(
        _ plan: FramePlan, options: FrameOptions, clock: PictureClock, delay: SEIMessage.InitialRemovalDelay? = nil
    ) -> LeadingUnits {
        var units = LeadingUnits()
        if accessUnitDelimiters {
            units.delimiter = AccessUnitDelimiter.unit(for: sliceType(plan.type), temporalID: plan.temporalLayer)
        }
        if plan.beginsBufferingPeriod { units.parameterSets = self.units }
        let messages = timing(plan, clock, delay: delay) + self.messages.messages(plan, options)
        if !messages.isEmpty {
            units.information = SEIMessage.prefixUnit(messages, temporalID: plan.temporalLayer)
        }
        return units
    }

    /// Returns the timing messages. buffering_period comes first (7.4.2.4.4).
    private func timing(
        _ plan: FramePlan, _ clock: PictureClock, delay: SEIMessage.InitialRemovalDelay?
    ) -> [SEIMessage] {
        var messages: [SEIMessage] = []
        if sps.vui?.presentHRD != nil, let buffer {
            if plan.beginsBufferingPeriod {
                if let message = SEIMessage.bufferingPeriod(
                    sps, nal: delay ?? SEIMessage.InitialRemovalDelay(delay: buffer.longestDelay, offset: 0))
                {
                    messages.append(message)
                }
            }
            // A frame has one tick.
            messages.append(
                .pictureTiming(sps, removalDelay: max(clock.removal, 1), outputDelay: clock.output))
        }
        if !plan.type.isKey, let count = plan.recoveryFrameCount, plan.type != .i || !isRandomAccess {
            // After an intra refresh, the pictures are approximate, not exact: exact_match_flag is 0.
            messages.append(.recoveryPoint(pocCount: count, isExact: plan.type == .i))
        }
        return messages
    }

    /// Whether I pictures are CRA pictures, which signal by themselves that decoding may begin there.
    private var isRandomAccess: Bool { !sps.long_term_ref_pics_present_flag }

    func sliceType(_ type: PictureType) -> SliceType {
        switch type {
        case .idr, .i: .i
        case .p: hasTwoLists ? .b : .p
        case .b: .b
        }
    }
}
