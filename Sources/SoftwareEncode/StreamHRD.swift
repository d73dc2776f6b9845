import NALUnits
import VideoBase

/// The hrd_parameters() of a library's SPS: one schedule for all NAL units (H.264 E.1.2, H.265 E.2.2), as libx264 and
/// libx265 write them.
struct StreamHRD: Sendable, Hashable {
    /// BitRate in bits per second.
    private(set) var bitrate = 0
    /// CpbSize in bits.
    private(set) var cpbSize = 0
    /// cbr_flag.
    private(set) var isConstant = false
    /// The number of pictures per second.
    private(set) var frameRate = Rational(1)
    /// The number of bits of the delays in buffering period messages.
    private(set) var initialDelayLength = 0
    /// The numbers of bits of the delays in picture timing messages.
    private(set) var removalDelayLength = 0
    private(set) var outputDelayLength = 0
    /// Whether picture timing begins with seven bits of field information (HEVC's frame_field_info_present_flag).
    private(set) var hasFieldInformation = false

    /// Bit positions in the SPS: bit_rate_scale, bit_rate_value_minus1, and the first bit after cbr_flag.
    private var scales = 0
    private var values = 0
    private var end = 0

    /// - Returns: nil for an SPS without HRD parameters, or with syntax that the libraries do not write.
    init?(sps: [UInt8], codec: VideoCodec) {
        var bits = UnescapedBits(sps)
        let isRead =
            switch codec {
            case .h264: readH264(&bits)
            case .hevc: readHEVC(&bits)
            }
        guard isRead, !bits.isExhausted else { return nil }
    }

    /// Ticks of a picture: a frame has the time of two fields in H.264.
    static func ticksPerPicture(_ codec: VideoCodec) -> Int {
        switch codec {
        case .h264: 2
        case .hevc: 1
        }
    }

    /// Returns the SPS that these parameters were read from, with another schedule.
    func rewritten(_ sps: [UInt8], _ schedule: DeliverySchedule) -> [UInt8] {
        let bits = UnescapedBits(sps)
        guard let stop = bits.stopBit, end <= stop else { return sps }
        var w = BitWriter(reservingCapacity: sps.count + 16)
        bits.copy(0..<scales, to: &w)
        schedule.writeScales(to: &w)
        bits.copy(scales + 8..<values, to: &w)
        schedule.writeValues(to: &w)
        bits.copy(end..<stop, to: &w)
        w.trailingBits()
        return EmulationPrevention.escaped(w.bytes)
    }

    private mutating func readScales(_ bits: inout UnescapedBits) -> (rate: Int, size: Int) {
        scales = bits.position
        return (bits.u(4), bits.u(4))
    }

    private mutating func readValues(_ bits: inout UnescapedBits, _ scale: (rate: Int, size: Int)) {
        values = bits.position
        bitrate = (bits.ue() + 1) << (6 + scale.rate)
        cpbSize = (bits.ue() + 1) << (4 + scale.size)
        isConstant = bits.flag()
        end = bits.position
    }

    /// - Returns: False if the timing is invalid.
    private mutating func readTiming(_ bits: inout UnescapedBits, _ codec: VideoCodec) -> Bool {
        let (units, scale) = (bits.u(32), bits.u(32))
        guard units > 0, scale > 0 else { return false }
        frameRate = Rational(scale, units * Self.ticksPerPicture(codec))
        return true
    }

    /// Reads seq_parameter_set_data(), H.264 7.3.2.1.1, and vui_parameters(), E.1.1.
    private mutating func readH264(_ bits: inout UnescapedBits) -> Bool {
        guard SequenceFields(&bits) != nil else { return false }
        if bits.flag() { for _ in 0..<4 { bits.ue() } }  // frame_cropping_flag
        guard bits.flag() else { return false }  // vui_parameters_present_flag
        Self.skipColor(&bits)
        guard bits.flag(), readTiming(&bits, .h264) else { return false }
        bits.position += 1
        guard bits.flag(), bits.ue() == 0 else { return false }  // nal_hrd_parameters_present_flag, cpb_cnt_minus1
        let scale = readScales(&bits)
        readValues(&bits, scale)
        initialDelayLength = bits.u(5) + 1
        removalDelayLength = bits.u(5) + 1
        outputDelayLength = bits.u(5) + 1
        bits.position += 5
        return !bits.flag()  // vcl_hrd_parameters_present_flag
    }

    /// Skips vui_parameters() up to the chroma locations, which is the same in both codecs.
    private static func skipColor(_ bits: inout UnescapedBits) {
        let extendedAspect = 255
        if bits.flag(), bits.u(8) == extendedAspect { bits.position += 32 }
        if bits.flag() { bits.position += 1 }  // overscan_info_present_flag
        if bits.flag() {  // video_signal_type_present_flag
            bits.position += 4
            if bits.flag() { bits.position += 24 }
        }
        if bits.flag() {  // chroma_loc_info_present_flag
            bits.ue()
            bits.ue()
        }
    }

    /// Reads seq_parameter_set_rbsp(), H.265 7.3.2.2.1, vui_parameters(), E.2.1, and hrd_parameters(), E.2.2, for one
    /// sub-layer.
    private mutating func readHEVC(_ bits: inout UnescapedBits) -> Bool {
        bits.position = 20
        guard bits.u(3) == 0 else { return false }  // sps_max_sub_layers_minus1
        bits.position += 1 + 96
        bits.ue()
        if bits.ue() == 3 { bits.position += 1 }  // chroma_format_idc
        bits.ue()
        bits.ue()
        if bits.flag() { for _ in 0..<4 { bits.ue() } }  // conformance_window_flag
        for _ in 0..<3 { bits.ue() }
        bits.position += 1
        // The decoded picture buffer parameters of the one sub-layer, then the block sizes.
        for _ in 0..<9 { bits.ue() }
        if bits.flag(), bits.flag() { return false }  // scaling lists
        bits.position += 2
        if bits.flag() {  // pcm_enabled_flag
            bits.position += 8
            bits.ue()
            bits.ue()
            bits.position += 1
        }
        // num_short_term_ref_pic_sets, long_term_ref_pics_present_flag.
        guard bits.ue() == 0, !bits.flag() else { return false }
        bits.position += 2
        guard bits.flag() else { return false }  // vui_parameters_present_flag
        Self.skipColor(&bits)
        bits.position += 2
        hasFieldInformation = bits.flag()
        if bits.flag() { for _ in 0..<4 { bits.ue() } }  // default_display_window_flag
        guard bits.flag(), readTiming(&bits, .hevc) else { return false }
        if bits.flag() { bits.ue() }  // vui_poc_proportional_to_timing_flag
        // vui_hrd_parameters_present_flag, nal_hrd_parameters_present_flag, no VCL parameters, no sub-picture
        // parameters.
        guard bits.flag(), bits.flag(), !bits.flag(), !bits.flag() else { return false }
        let scale = readScales(&bits)
        initialDelayLength = bits.u(5) + 1
        removalDelayLength = bits.u(5) + 1
        outputDelayLength = bits.u(5) + 1
        let isGeneral = bits.flag()
        var isLowDelay = false
        if isGeneral || bits.flag() { bits.ue() } else { isLowDelay = bits.flag() }
        if !isLowDelay, bits.ue() != 0 { return false }  // cpb_cnt_minus1
        readValues(&bits, scale)
        return true
    }
}
