import H264Syntax
import NALUnits
import Testing
import VideoBase

/// Compares messages with bytes derived by hand from Annexes D, E and G.
@Suite struct TimingMessageTests {
    private func sps(_ change: (inout VUIParameters) -> Void) throws -> SequenceParameterSet {
        var vui = VUIParameters(frameRate: Rational(25), max_num_reorder_frames: 2, max_dec_frame_buffering: 3)
        change(&vui)
        return try H264HeaderBytesTests.sps(vui: vui)
    }

    private func bits(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (0..<8).map { byte >> UInt8(7 - $0) & 1 == 1 ? "1" : "0" }.joined() }.joined()
    }

    private func filled(_ bits: String) -> String {
        bits.count % 8 == 0 ? bits : bits + "1" + String(repeating: "0", count: 7 - bits.count % 8)
    }

    @Test func hrdParametersMatchHandDerivedBits() throws {
        let hrd = HRDParameters(bitrate: BitsPerSecond(64 * 4), cpbSize: 16 * 2 * 3, isConstant: true)
        let with = try sps {
            $0.nal_hrd_parameters = hrd
            $0.low_delay_hrd_flag = true
            $0.pic_struct_present_flag = true
            $0.fixed_frame_rate_flag = false
        }
        // timing: 1, 50, not fixed; cpb_cnt ue(0); scales 2 and 1; ue(0) = 1, ue(2) = 011; cbr; lengths 24, 24, 24, 24
        let timing = "1" + String(repeating: "0", count: 31) + "1" + String(repeating: "0", count: 26) + "110010" + "0"
        let expected =
            timing + "1" + "1" + "0010" + "0001" + "1" + "011" + "1" + "10111" + "10111" + "10111" + "11000"
            + "0" + "1" + "1" + "1"
        // bitstream_restriction: 1, 0, 0, 15, 15, reorder 2, buffering 3, stop bit
        #expect(bits(unescaped(with.unit)).contains(expected + "1" + "1" + "1" + "000010000" + "000010000" + "011" + "00100" + "1"))
        let both = try sps {
            $0.nal_hrd_parameters = hrd
            $0.vcl_hrd_parameters = hrd
        }
        // Both sets take 41 + 5 bits more than one; without any set there is no low_delay_hrd_flag.
        let none = try sps { _ in }
        let flags = ["1", "1", "0010", "0001", "1", "011", "1"].joined()
        #expect(bits(unescaped(both.unit)).contains(flags))
        #expect(both.unit.count > with.unit.count && with.unit.count > none.unit.count)
    }

    private func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        for byte in bytes where !(byte == 3 && output.suffix(2) == [0, 0]) { output.append(byte) }
        return output
    }

    @Test func bufferingPeriodMatchesHandDerivedBits() throws {
        let hrd = HRDParameters(bitrate: BitsPerSecond(1_000_000), cpbSize: 1_000_000, isConstant: true)
        let initial = SEIMessage.InitialRemovalDelay(delay: 81000, offset: 9000)
        let text = { (value: Int) in
            let digits = String(value, radix: 2)
            return String(repeating: "0", count: 24 - digits.count) + digits
        }
        let nal = SEIMessage.bufferingPeriod(try sps { $0.nal_hrd_parameters = hrd }, nal: initial)
        #expect(nal.payloadType == 0)
        #expect(bits(nal.payload) == filled("1" + text(81000) + text(9000)))
        let both = try sps {
            $0.nal_hrd_parameters = hrd
            $0.vcl_hrd_parameters = hrd
        }
        let message = SEIMessage.bufferingPeriod(both, nal: initial, vcl: .init(delay: 5, offset: 6))
        #expect(bits(message.payload) == filled("1" + text(81000) + text(9000) + text(5) + text(6)))
        #expect(SEIMessage.bufferingPeriod(try sps { _ in }, nal: initial).payload == [0xC0])
    }

    @Test func pictureTimingMatchesHandDerivedBits() throws {
        var hrd = HRDParameters(bitrate: BitsPerSecond(1_000_000), cpbSize: 1_000_000, isConstant: true)
        hrd.cpb_removal_delay_length = 5
        hrd.dpb_output_delay_length = 3
        let plain = try sps { $0.nal_hrd_parameters = hrd }
        // A payload of whole bytes needs no padding.
        #expect(SEIMessage.pictureTiming(plain, removalDelay: 6, outputDelay: 4).payload == [0b00110_100])
        #expect(SEIMessage.pictureTiming(plain, removalDelay: 33, outputDelay: 9).payload == [0b00001_001])
        let structured = try sps {
            $0.vcl_hrd_parameters = hrd
            $0.pic_struct_present_flag = true
        }
        // 00110 100 | 0000 0 1 00
        #expect(
            SEIMessage.pictureTiming(structured, removalDelay: 6, outputDelay: 4).payload == [0b00110_100, 0b0000_0_100])
        #expect(SEIMessage.unit([.pictureTiming(plain, removalDelay: 6, outputDelay: 4)]) == [0x06, 1, 1, 0x34, 0x80])
    }

    @Test func recoveryPointMatchesHandDerivedBits() {
        // ue(0) 1 0 00, then 1 00
        #expect(SEIMessage.recoveryPoint(frameCount: 0).payload == [0b1_1_0_00_100])
        // ue(30) = 000011111
        #expect(SEIMessage.recoveryPoint(frameCount: 30, isExact: false).payload == [0b0000_1111, 0b1_0_0_00_100])
        #expect(SEIMessage.recoveryPoint(frameCount: 0, isBroken: true).payload == [0b1_1_1_00_100])
        #expect(SEIMessage.recoveryPoint(frameCount: 1).payloadType == 6)
    }

    @Test func captionsMatchHandDerivedBytes() {
        let triplets: [UInt8] = [0xFC, 0x94, 0x2C, 0xFD, 0x80, 0x80]
        let expected: [UInt8] = [0xB5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03, 0x42, 0xFF] + triplets + [0xFF]
        #expect(SEIMessage.captions(triplets) == [SEIMessage(payloadType: 4, payload: expected)])
        #expect(SEIMessage.captions(triplets + [1, 2]).map(\.payload) == [expected])
        #expect(SEIMessage.captions([]).isEmpty)
        let many = SEIMessage.captions([UInt8](repeating: 7, count: 96))
        #expect(many.map { $0.payload[8] } == [0x5F, 0x41])
        #expect(many.map(\.payload.count) == [11 + 93, 11 + 3])
        #expect(SEIMessage.userData([UInt8](repeating: 1, count: 15)) == nil)
        #expect(SEIMessage.userData([UInt8](repeating: 1, count: 17))?.payloadType == 5)
    }

    @Test func prefixUnitsMatchHandDerivedBytes() {
        // 0 11 01110 | 1 1 000000 | 1 000 0000 | 000 0 0 1 11 | 0 0 1 00000
        #expect(PrefixUnit.unit(nal_ref_idc: 3, isIDR: true, temporalLayer: 0) == [0x6E, 0xC0, 0x80, 0x07, 0x20])
        // A reference picture of layer 1: 0 01 01110 | 1 0 000000 | … | 001 0 0 1 11
        #expect(PrefixUnit.unit(nal_ref_idc: 1, isIDR: false, temporalLayer: 1) == [0x2E, 0x80, 0x80, 0x27, 0x20])
        // A non-reference picture: the header alone.
        #expect(PrefixUnit.unit(nal_ref_idc: 0, isIDR: false, temporalLayer: 2) == [0x0E, 0x80, 0x80, 0x47])
    }

    @Test func fillerHasTheRequestedSize() {
        #expect(FillerData.unit(byteCount: 5) == [0x0C, 0xFF, 0xFF, 0xFF, 0x80])
        #expect(FillerData.unit(byteCount: 0) == [0x0C, 0x80])
    }

    @Test func levelLimitsTheBufferSize() throws {
        let level = try #require(Level(number: 31))
        #expect(level.maxCPBSize(profile: .h264High) == 21_000_000)
        #expect(level.maxCPBSize(profile: .h264Main) == 16_800_000)
    }
}
