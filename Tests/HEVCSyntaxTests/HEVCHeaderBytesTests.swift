import HEVCSyntax
import NALUnits
import Testing
import VideoBase

/// Compares headers with bytes derived by hand from the syntax tables of H.265 7.3.
@Suite struct HEVCHeaderBytesTests {
    /// The escaped profile_tier_level of Main, Main tier, level 3.1: 00 1 00001, flags 1 and 2, 1 0 1 1 and zeros, 93.
    private static let main31: [UInt8] = [0x01, 0x60, 0, 0, 3, 0, 0xB0, 0, 0, 3, 0, 0, 3, 0, 93]

    @Test func unitHeadersAndMessagesMatchHandDerivedBytes() {
        #expect(NALUnit.header(.videoParameterSet) == [0x40, 1] && NALUnit.header(.TRAIL_N, temporalID: 2) == [0, 3])
        #expect(NALUnit.header(.IDR_W_RADL) == [0x26, 1] && NALUnit.header(.suffixSEI) == [0x50, 1])
        #expect(AccessUnitDelimiter.unit(for: .i) == [0x46, 1, 0x10])
        #expect(AccessUnitDelimiter.unit(for: .b, temporalID: 1) == [0x46, 2, 0x50])
        #expect(FillerData.unit(byteCount: 5) == [0x4C, 1, 0xFF, 0xFF, 0x80])
        #expect(FillerData.unit(byteCount: 0) == [0x4C, 1, 0x80])
        for type in NALUnitType.allCases {
            #expect(NALUnitType(of: NALUnit.header(type)) == type)
            #expect(type.isIRAP == (16...21).contains(type.rawValue) && type.isIDR == [19, 20].contains(type.rawValue))
            #expect(type.isSubLayerNonReference == [0, 2, 4, 6, 8].contains(type.rawValue))
        }
        let uuid = [UInt8](repeating: 0xAB, count: 16)
        #expect(SEIMessage.prefixUnit([.userData(uuid: uuid, [1])]) == [0x4E, 1, 5, 17] + uuid + [1, 0x80])
        #expect(
            SEIMessage.prefixUnit([.contentLightLevel(maxContent: 1000, maxPictureAverage: 400)])
                == [0x4E, 1, 144, 4, 0x03, 0xE8, 0x01, 0x90, 0x80])
        #expect(SEIMessage.userData(Array(uuid.dropLast())) == nil)
    }

    @Test func parameterSetsMatchHandDerivedBytes() {
        let sps = Headers.sps()
        let vps = VideoParameterSet(profileTierLevel: sps.profileTierLevel, subLayers: sps.subLayers)
        // 0000 1 1 00 | 0000 000 1 | FF FF | … | 1 010 1 1 00 | 0000 1 0 0 1 (stop)
        #expect(vps.unit == [0x40, 1, 0x0C, 0x01, 0xFF, 0xFF] + Self.main31 + [0xAC, 0x09])
        // 0000 000 1 | … | 1 010 0000 | 00 1000001 | ... width ue(64) = 0000001000001, height ue(48) = 00000110001
        let fields = [
            "1", "010", "0000001000001", "00000110001", "0",  // id, 4:2:0, 64, 48, no window
            "1", "1", "00101",  // depths, order count of 8 bits
            "1", "010", "1", "1",  // ordering: 2 pictures, no reordering, no latency limit
            "1", "00100", "1", "00100", "1", "1",  // blocks 8 to 64, transforms 4 to 32, depths 0
            "0", "0", "0", "0",  // scaling lists, AMP, SAO, PCM
            "1", "0", "0", "0", "0", "0",  // no sets, no long-term, no TMVP, no smoothing, no VUI, no extension
            "1",
        ].joined()
        let zeros = String(repeating: "0", count: (8 - fields.count % 8) % 8)
        #expect(Array(sps.unit.prefix(18)) == [0x42, 1, 0x01] + Self.main31)
        #expect(Headers.bits(Array(sps.unit.dropFirst(18))) == fields + zeros)
        // 1 1 0 0 000 0 | 0 1 1 00101(−2) | 0 0 0 1 1 0 0 0 | 0 0 0 0 0 0 0 1 | 0 0 1(stop)
        #expect(PictureParameterSet(qp: 24).unit == [0x44, 1, 0xC0, 0x65, 0x18, 0x01, 0x20])
    }

    @Test func sliceSegmentHeadersMatchHandDerivedBytes() {
        let sps = Headers.sps()
        let pps = PictureParameterSet(qp: 24)
        func bytes(_ header: SliceSegmentHeader) -> [UInt8] {
            var w = BitWriter()
            header.write(to: &w, sps: sps, pps: pps)
            return w.bytes
        }
        // 1 0 1 011 1 1: first, no_output 0, PPS 0, I = ue(2), QP 24, alignment
        let key = SliceSegmentHeader(nal_unit_type: .IDR_W_RADL, slice_type: .i, slice_pic_order_cnt_lsb: 0, qp: 24)
        #expect(bytes(key) == [0b1010_1111])
        // 1 1 010 | 00000101 | 0 010 1 1 1 | 0 | 1 | 00110 (QP 27: +3 = ue(5)) | 1: one picture, 1 back, used, merge 5
        var p = SliceSegmentHeader(nal_unit_type: .TRAIL_R, slice_type: .p, slice_pic_order_cnt_lsb: 5, qp: 27)
        p.shortTermReferences = .explicit(ShortTermReferencePictureSet([.init(deltaPOC: -1)]))
        p.num_ref_idx_active[0] = 1
        #expect(bytes(p) == [0b1101_0000, 0b0010_1001, 0b0111_0100, 0b1101_0000])
    }

    @Test func conformanceWindowGivesTheVisibleSize() {
        for width in stride(from: 2, through: 70, by: 2) {
            for height in stride(from: 2, through: 70, by: 2) {
                let size = VideoSize(width: width, height: height)
                let sps = Headers.sps(size: size)
                #expect(sps.croppedSize == size && sps.pic_width_in_luma_samples % 8 == 0)
                #expect(sps.sizeInCtbs == VideoSize(width: width > 64 ? 2 : 1, height: height > 64 ? 2 : 1))
            }
        }
        let wide = SequenceParameterSet(
            profile: .hevcMain, tier: .main, level: .highest, size: VideoSize(width: 102, height: 50),
            codedSize: VideoSize(width: 128, height: 64),
            subLayers: [SubLayerOrdering(max_dec_pic_buffering: 1, max_num_reorder_pics: 0)], vui: nil)
        #expect(wide.conf_win_right_offset == 13 && wide.conf_win_bottom_offset == 7)
    }

    @Test func referencePictureSetIsSortedAndUnique() {
        let set = ShortTermReferencePictureSet([
            .init(deltaPOC: 4, isUsed: false), .init(deltaPOC: -8), .init(deltaPOC: 2), .init(deltaPOC: 0),
            .init(deltaPOC: -1), .init(deltaPOC: 2, isUsed: false),
        ])
        #expect(set.negative.map(\.deltaPOC) == [-1, -8] && set.positive.map(\.deltaPOC) == [2, 4])
        #expect(set.count == 4 && set.usedCount == 3)
    }

    @Test func tickTimingMatchesTheFrameRate() {
        #expect(TickTiming(frameRate: Rational(50, 2))?.time_scale == 25)
        #expect(TickTiming(frameRate: Rational(5_000_000_000, 3)) == nil)
    }
}
