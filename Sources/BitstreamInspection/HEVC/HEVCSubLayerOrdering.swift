/// sps_max_dec_pic_buffering_minus1 and the two values that accompany it, for one HighestTid.
package struct HEVCSubLayerOrdering: Sendable, Hashable {
    /// max_dec_pic_buffering_minus1 + 1.
    package var max_dec_pic_buffering: Int
    package var max_num_reorder_pics: Int
    package var max_latency_increase_plus1: Int

    /// SpsMaxLatencyPictures (7-9); nil for no limit.
    package var maxLatencyPictures: Int? {
        max_latency_increase_plus1 == 0 ? nil : max_num_reorder_pics + max_latency_increase_plus1 - 1
    }

    /// Reads the values of each sub-layer, including the inferred ones (7.3.2.1, 7.3.2.2.1).
    static func read(_ reader: inout BitReader, maxSubLayers: Int) throws(Malformed) -> [HEVCSubLayerOrdering] {
        let sub_layer_ordering_info_present_flag = reader.flag()
        var result: [HEVCSubLayerOrdering] = []
        for _ in (sub_layer_ordering_info_present_flag ? 0 : maxSubLayers - 1)..<maxSubLayers {
            let subLayer = HEVCSubLayerOrdering(
                max_dec_pic_buffering: try reader.unsigned("max_dec_pic_buffering_minus1", in: 0...15) + 1,
                max_num_reorder_pics: try reader.unsigned("max_num_reorder_pics", in: 0...15),
                max_latency_increase_plus1: try reader.unsigned("max_latency_increase_plus1", in: 0...0xffff_fffe))
            if subLayer.max_num_reorder_pics >= subLayer.max_dec_pic_buffering {
                throw Malformed("max_num_reorder_pics exceeds max_dec_pic_buffering_minus1")
            }
            if let last = result.last {
                if subLayer.max_dec_pic_buffering < last.max_dec_pic_buffering
                    || subLayer.max_num_reorder_pics < last.max_num_reorder_pics
                {
                    throw Malformed("a higher sub-layer has a smaller buffer or less reordering")
                }
            }
            result.append(subLayer)
        }
        guard let last = result.last else { throw Malformed("there is no sub-layer") }
        return sub_layer_ordering_info_present_flag
            ? result : [HEVCSubLayerOrdering](repeating: last, count: maxSubLayers)
    }
}
