/// video_parameter_set_rbsp, H.265 7.3.2.1, as the driver writes it: one layer, no timing.
package struct HEVCVideoParameterSet: Equatable, Sendable {
    package var vps_video_parameter_set_id = 0
    package var profileTierLevel: HEVCProfileTierLevel
    package var subLayer: HEVCSequenceParameterSet.SubLayerOrdering

    package init(_ sequence: HEVCSequenceParameterSet) {
        vps_video_parameter_set_id = sequence.sps_video_parameter_set_id
        profileTierLevel = sequence.profileTierLevel
        subLayer = sequence.subLayers.last ?? .init()
    }

    /// Returns the NAL unit with a four-byte start code.
    package func nalUnit() -> [UInt8] {
        var bits = HeaderBitWriter()
        bits.put(UInt32(vps_video_parameter_set_id), 4)
        bits.put(0b11, 2)  // vps_base_layer_internal_flag, vps_base_layer_available_flag
        bits.put(0, 6)  // vps_max_layers_minus1
        bits.put(0, 3)  // vps_max_sub_layers_minus1
        bits.put(true)  // vps_temporal_id_nesting_flag
        bits.put(0xffff, 16)
        profileTierLevel.write(to: &bits)
        bits.put(true)  // vps_sub_layer_ordering_info_present_flag
        subLayer.write(to: &bits)
        bits.put(0, 6)  // vps_max_layer_id
        bits.putUnsigned(0)  // vps_num_layer_sets_minus1
        bits.put(false)  // vps_timing_info_present_flag
        bits.put(false)  // vps_extension_flag
        bits.putTrailingBits()
        return EmulationPrevention.escape(bits.bytes, after: [0, 0, 0, 1, 32 << 1, 1])
    }

    /// Returns vps_video_parameter_set_id of an RBSP; nil if the RBSP is empty.
    package static func id(rbsp: [UInt8]) -> Int? { rbsp.first.map { Int($0 >> 4) } }
}
