import EncodePlanning
import HEVCSyntax
import NALUnits
import TestOracles
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession

extension EncodeCapabilities {
    /// The part that only HEVC has, to change. Setting it makes the capabilities those of HEVC.
    var tools: HEVCCapabilities {
        get {
            switch coding {
            case .h264: HEVCCapabilities()
            case .hevc(let limits): limits
            }
        }
        set { coding = .hevc(newValue) }
    }
}

/// The HEVC headers of whole streams, read by FFmpeg, and the parameter buffers that belong to them.
@Suite struct HEVCAdapterTests {
    static func limits(
        _ profile: CodecProfile = .hevcMain, _ change: (inout EncodeCapabilities) -> Void = { _ in }
    ) -> EncodeCapabilities {
        SettingsResolverTests.limits(profile) {
            var hevc = HEVCCapabilities()
            hevc.sao = true
            hevc.temporalMVP = true
            $0.tools = hevc
            $0.maxReferences1 = 4
            change(&$0)
        }
    }

    static func settle(
        _ limits: EncodeCapabilities = limits(), _ width: Int = 640, _ height: Int = 360,
        _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) throws -> EncodeSettings {
        let configuration = SettingsResolverTests.configuration(width, height) {
            $0.codec = .hevc
            change(&$0)
        }
        return try SettingsResolver.resolve(
            configuration, on: DeviceCapabilities(driver: "a driver", encoders: [limits]))
    }

    private struct Written {
        var plan: FramePlan
        var numbers: HEVCPictureNumbers
        var unit: TraceHeaders.Unit
    }

    /// Returns the slice headers of a stream as FFmpeg reads them with the stream's own parameter sets.
    private func written(_ settings: EncodeSettings, frames: Int, forced: Int = 1000) throws -> [Written] {
        let adapter = try #require(settings.adapter() as? HEVCAdapter)
        var planner = FramePlanner(structure: settings.structure)
        var numbering = HEVCReferenceState(
            longTermReferences: settings.structure.longTermReferences,
            log2_max_pic_order_cnt_lsb: adapter.stream.headers.sps.log2_max_pic_order_cnt_lsb)
        let plans = (0..<frames).flatMap { planner.add(forceKey: $0 == forced) } + planner.finish()
        var counter = PictureClock.Counter()
        var stream: [UInt8] = []
        var numbers: [HEVCPictureNumbers] = []
        for plan in plans {
            let clock = counter.next(plan, reorderDepth: settings.structure.reorderDepth)
            for unit in adapter.leading(plan, options: FrameOptions(), clock: clock, delay: nil).units {
                AnnexB.append(unit, to: &stream)
            }
            numbers.append(numbering.number(plan))
            for slice in adapter.stream.slices {
                let header = SliceSegmentHeader(
                    plan, numbers: numbers[numbers.count - 1], headers: adapter.stream.headers,
                    firstBlock: slice.lowerBound, qp: 30)
                let packed = PackedHeader(header, adapter.stream.headers)
                #expect(packed.has_emulation_bytes && packed.bit_length == packed.bytes.count * 8)
                // The slice data is arbitrary because nothing reads it.
                stream += packed.bytes + [0x55, 0xAA, 0x80]
            }
        }
        let trace = try TraceHeaders(stream: stream, codec: "hevc")
        let units = trace.units.filter { $0["first_slice_segment_in_pic_flag"] == 1 }
        try #require(units.count == plans.count)
        return plans.indices.map { Written(plan: plans[$0], numbers: numbers[$0], unit: units[$0]) }
    }

    /// The slice headers of every structure hold the planned numbers, which the decoder model of the planning tests has
    /// judged.
    @Test(arguments: [false, true]) func sliceHeadersHoldThePlannedNumbers(needsTwoLists: Bool) throws {
        let limits = Self.limits { $0.tools.needsTwoLists = needsTwoLists }
        let changes: [(inout EncoderConfiguration) -> Void] = [
            { _ in }, { $0.structure.gopFrames = 1 },
            {
                $0.structure.bFrames = 3; $0.structure.bPyramid = true; $0.structure.references = 2
            },
            {
                $0.structure.gopFrames = 8; $0.structure.openGOP = true; $0.structure.bFrames = 2
            },
            {
                $0.structure.temporalLayers = 3; $0.coding.slices = 3
            },
            {
                $0.structure.longTermReferences = 2; $0.structure.references = 3
            },
            {
                $0.structure.temporalLayers = 2; $0.structure.bFrames = 1; $0.structure.gopFrames = 9
            },
            {
                $0.structure.bFrames = 7; $0.structure.bPyramid = true; $0.structure.gopFrames = 12; $0.structure.idrInterval = 3
            },
        ]
        for change in changes {
            let settings = try Self.settle(limits, 640, 360, change)
            let pictures = try written(settings, frames: 40, forced: 29)
            for picture in pictures {
                let (plan, numbers, unit) = (picture.plan, picture.numbers, picture.unit)
                let name = "\(settings.structure) at \(plan.codingIndex)"
                #expect(unit["nal_unit_type"] == Int(numbers.nal_unit_type.rawValue), "\(name)")
                #expect(unit["nuh_temporal_id_plus1"] == plan.temporalLayer + 1, "\(name)")
                let isB = plan.type == .b || (needsTwoLists && plan.type == .p)
                #expect(unit["slice_type"] == (plan.type == .idr || plan.type == .i ? 2 : isB ? 0 : 1), "\(name)")
                if plan.type == .idr { continue }
                #expect(unit["slice_pic_order_cnt_lsb"] == (plan.displayIndex - plan.keyDisplayIndex) & 255, "\(name)")
                #expect(unit["num_negative_pics"] == numbers.shortTerm.count { $0.deltaPOC < 0 }, "\(name)")
                #expect(unit["num_positive_pics"] == numbers.shortTerm.count { $0.deltaPOC > 0 }, "\(name)")
                #expect(unit["num_long_term_pics"] ?? 0 == numbers.longTerm.count, "\(name)")
                #expect(unit["slice_temporal_mvp_enabled_flag"] == 1, "\(name)")
            }
            #expect(pictures.contains { $0.plan.type == .idr && $0.plan.codingIndex > 0 })
        }
    }

    /// Checks both lists of a P picture that is coded as B slices, in the header and in the buffer.
    @Test func pPicturesInBSlicesHaveEqualLists() throws {
        let settings = try Self.settle(Self.limits { $0.tools.needsTwoLists = true }) {
            $0.structure.references = 3
            $0.structure.bFrames = 0
        }
        #expect(settings.effective.contains { $0.option == "pFrames" && $0.used == "B with equal lists" })
        let headers = try #require(settings.adapter() as? HEVCAdapter).stream.headers
        #expect(headers.pps.num_ref_idx_default_active[1] == 3)
        for picture in try written(settings, frames: 8) where picture.plan.type == .p {
            let header = SliceSegmentHeader(
                picture.plan, numbers: picture.numbers, headers: headers, firstBlock: 0, qp: 30)
            #expect(header.slice_type == .b && header.num_ref_idx_active[0] == header.num_ref_idx_active[1])
            #expect(header.num_ref_idx_active[0] == min(picture.plan.codingIndex, 3))
        }
        // If list 1 holds one entry, both lists hold one.
        let narrow = Self.limits {
            $0.tools.needsTwoLists = true
            $0.maxReferences1 = 1
        }
        let few = try Self.settle(narrow) { $0.structure.references = 3 }
        #expect(few.structure.references == 1)
    }

    @Test func parameterSetsHoldTheSettings() throws {
        let settings = try Self.settle(Self.limits(.hevcMain10), 1366, 768) {
            $0.profile = .hevcMain10
            $0.display.masteringDisplay = MasteringDisplay(
                "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)")
            $0.display.contentLight = ContentLight("1000,400")
            $0.display.color = ColorDescription(primaries: 9, transfer: 16, matrix: 9, fullRange: false)
            $0.rate.bitrate = BitsPerSecond(3_000_000)
            $0.headers.hrdParameters = true
            $0.structure.temporalLayers = 2
        }
        let adapter = try #require(settings.adapter() as? HEVCAdapter)
        let (plan, options) = AccessUnitAssemblerTests.options(.idr)
        // FFmpeg reads timing messages only after a slice, which names the parameter set.
        let slice = SliceSegmentHeader(
            nal_unit_type: .IDR_W_RADL, slice_type: .i, slice_pic_order_cnt_lsb: 0, qp: 30)
        let picture: [UInt8] = PackedHeader(slice, adapter.stream.headers).bytes + [0x55, 0xAA, 0x80]
        var stream = stream(adapter.parameterSets) + picture
        for unit in adapter.leading(plan, options: options, clock: PictureClock(removal: 3, output: 2), delay: nil)
            .units
        {
            AnnexB.append(unit, to: &stream)
        }
        stream += picture
        let trace = try TraceHeaders(stream: stream, codec: "hevc")
        let expected: [(String, Int)] = [
            ("general_profile_idc", 2), ("sps_max_sub_layers_minus1", 1), ("pic_width_in_luma_samples", 1376),
            ("pic_height_in_luma_samples", 768), ("conf_win_right_offset", 5), ("bit_depth_luma_minus8", 2),
            ("colour_primaries", 9), ("transfer_characteristics", 16), ("vui_poc_proportional_to_timing_flag", 1),
            ("vui_hrd_parameters_present_flag", 1), ("sample_adaptive_offset_enabled_flag", 1),
            ("max_content_light_level", 1000), ("max_display_mastering_luminance", 10_000_000),
            ("au_cpb_removal_delay_minus1", 2), ("pic_dpb_output_delay", 2),
        ]
        for (field, value) in expected { #expect(trace[field].first == value, "\(field)") }
        #expect(settings.level.name == "4.0" && settings.pixelFormat == .p010)
        let sequence = try #require(adapter.sequence as? HEVCSequenceParameters)
        #expect(sequence.general_level_idc == 120 && sequence.bit_depth_luma_minus8 == 2 && !sequence.general_tier_flag)
        #expect(sequence.pic_width_in_luma_samples == 1376 && sequence.pic_height_in_luma_samples == 768)
    }

    /// The adopted set keeps the driver's description of picture coding and has our level, window and VUI.
    @Test func driverSequenceParameterSetIsAdopted() throws {
        let settings = try Self.settle(Self.limits(), 1366, 768)
        let ours = try #require(settings.adapter() as? HEVCAdapter).stream.headers.sps
        #expect(DriverHEVCSequenceParameterSet(unit: ours.unit)?.adopting(ours) == ours.unit)
        var theirs = ours
        theirs.pic_width_in_luma_samples = 1408
        theirs.conf_win_right_offset = 1
        theirs.profileTierLevel.general_level_idc = 186
        theirs.log2_min_luma_coding_block_size = 4
        theirs.log2_diff_max_min_luma_coding_block_size = 2
        theirs.sps_temporal_mvp_enabled_flag = false
        theirs.short_term_ref_pic_sets = [
            ShortTermReferencePictureSet([.init(deltaPOC: -1)]),
            ShortTermReferencePictureSet([.init(deltaPOC: -1), .init(deltaPOC: -3, isUsed: false), .init(deltaPOC: 2)]),
        ]
        theirs.long_term_ref_pics_present_flag = true
        theirs.vui = nil
        var expected = theirs
        expected.conf_win_right_offset = 21
        expected.profileTierLevel = ours.profileTierLevel
        expected.vui = ours.vui
        #expect(DriverHEVCSequenceParameterSet(unit: theirs.unit)?.adopting(ours) == expected.unit)
        for length in 0..<16 {
            #expect(DriverHEVCSequenceParameterSet(unit: Array(theirs.unit.prefix(length))) == nil)
        }
        var small = theirs
        small.pic_width_in_luma_samples = 1360
        #expect(DriverHEVCSequenceParameterSet(unit: small.unit)?.adopting(ours) == nil)
    }

    /// Units after the slices are kept; the driver's own units before them are removed.
    @Test func assemblerKeepsOnlyUnitsAfterTheSlices() throws {
        let adapter = try Self.settle { $0.headers.identifier = false }.adapter()
        var assembler = AccessUnitAssembler(.hevc, adapter)
        let (plan, options) = AccessUnitAssemblerTests.options(.idr)
        let slice: [UInt8] = [19 << 1, 1, 0xAF]
        let hash: [UInt8] = [40 << 1, 1, 0x84, 0x80]
        let filler: [UInt8] = [38 << 1, 1, 0xFF, 0x80]
        let expected = adapter.parameterSets + [slice, slice, hash, filler]
        let delimiter: [UInt8] = [35 << 1, 1, 0x10]
        let information: [UInt8] = [39 << 1, 1, 0x80]
        let theirs = [delimiter] + adapter.parameterSets.dropFirst() + [information, slice, slice, hash, filler]
        for units in [expected, theirs] {
            var bytes = stream(units)
            try assembler.assemble(&bytes, adapter.leading(plan, options: options, clock: PictureClock(), delay: nil))
            #expect(AnnexB.split(bytes) == expected)
        }
        let slices = AccessUnitAssembler.slices(in: stream(expected), AnnexB.units(in: stream(expected).span), .hevc)
        #expect(slices == [3, 3])
    }

    private func stream(_ units: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &bytes) }
        return bytes
    }
}
