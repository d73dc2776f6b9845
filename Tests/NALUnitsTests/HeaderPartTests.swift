import NALUnits
import Testing
import VideoBase

/// Tests the parts of parameter sets that H.264 and H.265 share.
@Suite struct HeaderPartTests {
    @Test func scheduleHoldsRateAndSize() {
        func schedule(_ bitrate: Int, _ size: Int) -> DeliverySchedule {
            DeliverySchedule(bitrate: BitsPerSecond(bitrate), cpbSize: size, isConstant: false)
        }
        // 1 Mbit/s is 15625 · 2^6; a buffer of 1.5 Mbit is 46875 · 2^5.
        let even = schedule(1_000_000, 1_500_000)
        #expect(even.bit_rate_scale == 0 && even.bit_rate_value_minus1 == 15624)
        #expect(even.cpb_size_scale == 1 && even.cpb_size_value_minus1 == 46874)
        #expect(even.bitrate.value == 1_000_000 && even.cpbSize == 1_500_000)
        let odd = schedule(1_000_063, 1_500_015)
        #expect(odd.bitrate.value == 1_000_000 && odd.cpbSize == 1_500_000)
        // The values are never zero, never beyond ue(v), and never more than requested.
        for value in [0, 1, 63, 64, 65, 800_000_000, 1 << 40, 3 << 37, (1 << 40) - 1] {
            let found = schedule(value, value)
            #expect(found.bitrate.value <= max(value, 64) && found.bitrate.value > max(value, 64) - 512)
            #expect(found.cpbSize <= max(value, 16) && found.cpbSize > max(value, 16) - 512)
            #expect(found.bit_rate_value_minus1 <= Int(UInt32.max) - 1 && (0...15).contains(found.bit_rate_scale))
        }
    }

    @Test func aspectRatiosHaveTheirIndicator() {
        func idc(_ width: Int, _ height: Int) -> UInt8? {
            DisplayInformation(sampleAspectRatio: Rational(width, height)).aspectRatio?.aspect_ratio_idc
        }
        #expect(idc(1, 1) == 1)
        #expect(idc(24, 22) == 2)
        #expect(idc(40, 33) == 5)
        #expect(idc(2, 1) == 16)
        #expect(idc(7, 5) == 255)
        #expect(idc(70000, 3) == nil)
        #expect(idc(0, 1) == nil)
    }
}
