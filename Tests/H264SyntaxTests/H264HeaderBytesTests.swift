import H264Syntax
import NALUnits
import Testing
import VideoBase

/// Compares headers with bytes derived by hand from the syntax tables of H.264 7.3.
@Suite struct H264HeaderBytesTests {
    static let hd = VideoSize(width: 1280, height: 720)

    static func sps(
        _ profile: CodecProfile = .h264High, level: Int = 31, size: VideoSize = hd, codedSize: VideoSize? = nil,
        hasBFrames: Bool = false, vui: VUIParameters? = nil
    ) throws -> SequenceParameterSet {
        SequenceParameterSet(
            profile: profile, level: try #require(Level(number: level)), size: size, codedSize: codedSize,
            references: 1, hasBFrames: hasBFrames, vui: vui)
    }

    static func pps(qp: Int = 24) -> PictureParameterSet {
        PictureParameterSet(profile: .h264High, entropy: .cabac, transform8x8: true, qp: qp, references: 1)
    }

    @Test func sequenceParameterSetMatchesHandDerivedBytes() throws {
        // 1 010 1 1 0 0 | 00101 1 00 | 101 010 0 0 | 00000101 | 0000 0000 | 0101101 1 | 1 0 0 1 0000
        #expect(try Self.sps().unit == [0x67, 100, 0x0C, 31, 0xAC, 0x2C, 0xA8, 0x05, 0x00, 0x5B, 0x90])
        // Without the fields of the High profiles: 1 00101 1 0 | 0101 010 0 | 00000010 | 10000 000 | 00101101 | 1 1 0 0
        // 1 000
        #expect(try Self.sps(.h264Main).unit == [0x67, 77, 0x4C, 31, 0x96, 0x54, 0x02, 0x80, 0x2D, 0xC8])
    }

    @Test func croppingGivesTheVisibleSize() throws {
        // 1920×1080 is coded in 1088 lines: four crop units at the bottom. 102×50 is coded in 112×64: five and seven
        // units.
        let full = try Self.sps(size: VideoSize(width: 1920, height: 1080))
        #expect(full.frame_crop_right_offset == 0 && full.frame_crop_bottom_offset == 4)
        let odd = try Self.sps(size: VideoSize(width: 102, height: 50))
        #expect(odd.frame_crop_right_offset == 5 && odd.frame_crop_bottom_offset == 7)
        // The driver codes blocks of 64×16.
        let wide = try Self.sps(
            size: VideoSize(width: 102, height: 50), codedSize: VideoSize(width: 128, height: 64))
        #expect(wide.frame_crop_right_offset == 13 && wide.croppedSize == VideoSize(width: 102, height: 50))
        for width in stride(from: 2, through: 70, by: 2) {
            for height in stride(from: 2, through: 70, by: 2) {
                let size = VideoSize(width: width, height: height)
                #expect(try Self.sps(size: size).croppedSize == size)
            }
        }
        // 2×2: 1 010 1 1 0 0 | 00101 1 00 | 101 010 0 1 | 1 1 1 1 1 000 | 1000 1 000 | 1000 0 1 00
        // width 1, height 1, frame_mbs_only, direct, cropping, left ue(0), right ue(7), top ue(0), bottom ue(7), no VUI
        #expect(
            try Self.sps(level: 10, size: VideoSize(width: 2, height: 2)).unit
                == [0x67, 100, 0x0C, 10, 0xAC, 0x2C, 0xA9, 0xF8, 0x88, 0x84])
    }

    @Test func constraintFlagsFollowProfileAndLevel() throws {
        #expect(try Self.sps(.h264ConstrainedBaseline).constraint_flags == 0xC0)
        #expect(try Self.sps(.h264ConstrainedBaseline, level: 9).constraint_flags == 0xD0)
        #expect(try Self.sps(.h264ConstrainedBaseline, level: 9).level_idc == 11)
        #expect(try Self.sps(.h264Main, level: 9).constraint_flags == 0x5C)
        #expect(try Self.sps(.h264Main, hasBFrames: true).constraint_flags == 0x48)
        #expect(try Self.sps(.h264High, level: 9).level_idc == 9)
        #expect(try Self.sps(.h264High, hasBFrames: true).constraint_flags == 0x08)
    }

    @Test func pictureParameterSetMatchesHandDerivedBytes() {
        // 1 1 1 0 1 1 1 0 | 00 00101 1 | 1 1 0 0 1 0 1 1
        #expect(Self.pps().unit == [0x68, 0xEE, 0x0B, 0xCB])
        // Baseline, CAVLC, QP 26: 1 1 0 0 1 1 1 0 | 00 1 1 1 1 0 0 | 1000 0000
        let baseline = PictureParameterSet(
            profile: .h264ConstrainedBaseline, entropy: .cavlc, transform8x8: true, qp: 26, references: 1)
        #expect(baseline.unit == [0x68, 0xCE, 0x3C, 0x80])
    }

    private func bits(_ header: SliceHeader, pps: PictureParameterSet) throws -> (bytes: [UInt8], count: Int) {
        var writer = BitWriter()
        header.write(to: &writer, sps: try Self.sps(), pps: pps)
        return (writer.bytes, writer.bitCount)
    }

    @Test func idrSliceHeaderMatchesHandDerivedBytes() throws {
        let header = SliceHeader(
            nal_ref_idc: 3, isIDR: true, slice_type: .i, frame_num: 0, pic_order_cnt_lsb: 0, qp: 24)
        // 1 0001000 | 1 0000000 | 0 1 000000 | 00 0 0 1 1 1 1
        let result = try bits(header, pps: Self.pps())
        #expect(result.bytes == [0x88, 0x80, 0x40, 0x0F])
        #expect(result.count == 32)
    }

    @Test func predictedSliceHeaderMatchesHandDerivedBytes() throws {
        var header = SliceHeader(
            nal_ref_idc: 2, isIDR: false, slice_type: .p, frame_num: 5, pic_order_cnt_lsb: 10, qp: 23)
        header.first_mb_in_slice = 3
        header.num_ref_idx_active[0] = 1
        // 00100 001 | 10 1 00000 | 101 00001 | 010 0 0 0 1 0 | 11 1 1 1
        let plain = try bits(header, pps: Self.pps())
        #expect(plain.bytes == [0x21, 0xA0, 0xA1, 0x42, 0xF8])
        #expect(plain.count == 37)
        // Two references instead of the PPS's one, modified (−3, long term 1), and one picture marked as unused (2
        // back):
        // 00100 001 | 10 1 00000 | 101 00001 | 010 1 010 1 | 1 011 011 0 | 10 00100 1 | 010 010 1 1 | 011 1 1 1
        header.num_ref_idx_active[0] = 2
        header.modifications[0] = [.subtract(abs_diff_pic_num: 3), .longTerm(long_term_pic_num: 1)]
        header.marking = [.forgetShortTerm(difference_of_pic_nums: 2)]
        let marked = try bits(header, pps: Self.pps())
        #expect(marked.bytes == [0x21, 0xA0, 0xA1, 0x55, 0xB6, 0x89, 0x4B, 0x7C])
        #expect(marked.count == 62)
    }

    @Test func delimiterAndMessagesMatchHandDerivedBytes() {
        #expect(AccessUnitDelimiter.unit(for: .i) == [0x09, 0x10])
        #expect(AccessUnitDelimiter.unit(for: .p) == [0x09, 0x30])
        let uuid = [UInt8](repeating: 0xAB, count: 16)
        #expect(SEIMessage.unit([.userData(uuid: uuid, [1])]) == [0x06, 5, 17] + uuid + [1, 0x80])
        let long = SEIMessage.unit([SEIMessage(payloadType: 300, payload: [UInt8](repeating: 9, count: 255))])
        #expect(long == [0x06, 255, 45, 255, 0] + [UInt8](repeating: 9, count: 255) + [0x80])
    }
}
