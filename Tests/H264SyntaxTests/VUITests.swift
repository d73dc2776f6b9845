import H264Syntax
import NALUnits
import Testing
import VideoBase

@Suite struct VUITests {
    @Test func vuiMatchesHandDerivedBits() throws {
        var vui = VUIParameters(
            sampleAspectRatio: Rational(1, 1), color: ColorDescription(primaries: 1, transfer: 1, matrix: 1),
            frameRate: Rational(25, 1), max_num_reorder_frames: 0, max_dec_frame_buffering: 1)
        vui.display.color.fullRange = false
        let unit = try H264HeaderBytesTests.sps(vui: vui).unit
        // The byte after pic_height begins with direct_8x8, no cropping, and VUI present. The bits are without escapes
        // (00 00 03).
        let fields = [
            "1", "0", "1",
            "1", "00000001",  // aspect_ratio_info_present_flag, aspect_ratio_idc
            "0", "1", "101", "0", "1",  // overscan, video_signal_type: unspecified format, limited, described
            "00000001", "00000001", "00000001",
            "0", "1", "00000000000000000000000000000001", "00000000000000000000000000110010", "1",  // timing: 1, 50
            "0", "0", "0", "1",  // no HRD, no pic_struct, bitstream_restriction
            "1", "1", "1", "000010000", "000010000", "1", "010",
            "1",  // rbsp_stop_one_bit
        ].joined()
        let zeros = String(repeating: "0", count: (8 - fields.count % 8) % 8)
        #expect(bitText(unescaped(Array(unit.dropFirst(10)))) == fields + zeros)
    }

    private func bitText(_ bytes: [UInt8]) -> String {
        var text = ""
        for byte in bytes {
            for shift in 0..<8 { text += byte >> UInt8(7 - shift) & 1 == 1 ? "1" : "0" }
        }
        return text
    }

    private func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            output.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return output
    }

    @Test func timingMatchesTheFrameRate() {
        func timing(_ rate: Rational) -> [UInt32]? {
            VUIParameters(frameRate: rate, max_num_reorder_frames: nil, max_dec_frame_buffering: 1).timing
                .map { [$0.num_units_in_tick, $0.time_scale] }
        }
        #expect(timing(Rational(30000, 1001)) == [1001, 60000])
        #expect(timing(Rational(50, 2)) == [1, 50])
        #expect(timing(Rational(5_000_000_000, 3)) == nil)
    }
}
