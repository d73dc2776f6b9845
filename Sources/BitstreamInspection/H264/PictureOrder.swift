/// The decoding process for picture order count (H.264 8.2.1).
struct PictureOrder {
    struct Result {
        var top: Int
        var bottom: Int
        /// PicOrderCnt of the frame.
        var frame: Int { min(top, bottom) }
    }

    private var previousMsb = 0
    private var previousLsb = 0
    private var previousFrameNumOffset = 0
    private var previousFrameNum = 0
    private var previousHadForgetAll = false

    /// Returns the counts of the picture that starts with `slice`.
    ///
    /// Arithmetic wraps around instead of trapping, because malformed headers can contain any value. Valid counts have
    /// at most 32 bits.
    mutating func decode(_ slice: H264SliceHeader, _ sps: H264SequenceParameterSet) -> Result {
        if slice.isIDR {
            previousMsb = 0
            previousLsb = 0
            previousFrameNumOffset = 0
            previousFrameNum = 0
            previousHadForgetAll = false
        }
        let result =
            switch sps.pic_order_cnt_type {
            case 0: leastSignificantBits(slice, sps)
            case 1: cycle(slice, sps)
            default: codingOrder(slice, sps)
            }
        previousHadForgetAll = slice.includesForgetAll
        previousFrameNum = slice.frame_num
        if previousHadForgetAll {
            // The next counts are relative to this picture: tempPicOrderCnt is subtracted from its counts (8.2.1).
            previousFrameNumOffset = 0
            previousFrameNum = 0
            previousMsb = 0
            previousLsb = slice.bottom_field_flag ? 0 : result.top &- result.frame
        }
        return result
    }

    /// Returns the counts for pic_order_cnt_type 0 (8.2.1.1).
    private mutating func leastSignificantBits(_ slice: H264SliceHeader, _ sps: H264SequenceParameterSet) -> Result {
        let maximum = 1 << sps.log2_max_pic_order_cnt_lsb
        let lsb = slice.pic_order_cnt_lsb
        var msb = previousMsb
        if lsb < previousLsb, previousLsb - lsb >= maximum / 2 {
            msb = previousMsb &+ maximum
        } else if lsb > previousLsb, lsb - previousLsb > maximum / 2 {
            msb = previousMsb &- maximum
        }
        if slice.nal_ref_idc != 0 {
            previousMsb = msb
            previousLsb = lsb
        }
        let top = msb &+ lsb
        return Result(top: top, bottom: top &+ slice.delta_pic_order_cnt_bottom)
    }

    /// Returns FrameNumOffset for pic_order_cnt_type 1 and 2 (8-6, 8-11).
    private mutating func frameNumOffset(_ slice: H264SliceHeader, _ sps: H264SequenceParameterSet) -> Int {
        var offset = previousFrameNumOffset
        if slice.isIDR {
            offset = 0
        } else if previousFrameNum > slice.frame_num {
            offset = previousFrameNumOffset &+ sps.maxFrameNum
        }
        previousFrameNumOffset = offset
        return offset
    }

    /// Returns the counts for pic_order_cnt_type 1 (8.2.1.2).
    private mutating func cycle(_ slice: H264SliceHeader, _ sps: H264SequenceParameterSet) -> Result {
        let offsets = sps.offset_for_ref_frame
        var number = offsets.isEmpty ? 0 : frameNumOffset(slice, sps) &+ slice.frame_num
        if slice.nal_ref_idc == 0, number > 0 { number -= 1 }
        var expected = 0
        if number > 0 {
            let cycles = (number - 1) / offsets.count
            expected = cycles &* offsets.reduce(0, &+)
            for index in 0...((number - 1) % offsets.count) { expected = expected &+ offsets[index] }
        }
        if slice.nal_ref_idc == 0 { expected = expected &+ sps.offset_for_non_ref_pic }
        let top = expected &+ slice.delta_pic_order_cnt[0]
        return Result(
            top: top, bottom: top &+ sps.offset_for_top_to_bottom_field &+ slice.delta_pic_order_cnt[1])
    }

    /// Returns the counts for pic_order_cnt_type 2 (8.2.1.3).
    private mutating func codingOrder(_ slice: H264SliceHeader, _ sps: H264SequenceParameterSet) -> Result {
        let offset = frameNumOffset(slice, sps)
        if slice.isIDR { return Result(top: 0, bottom: 0) }
        let count = 2 &* (offset &+ slice.frame_num) &- (slice.nal_ref_idc == 0 ? 1 : 0)
        return Result(top: count, bottom: count)
    }

    /// Updates the state for a frame that was inferred for a gap in frame_num (8.2.5.2). pic_order_cnt_type 1 and 2
    /// require it.
    mutating func skip(frame_num: Int, _ sps: H264SequenceParameterSet) {
        if previousFrameNum > frame_num { previousFrameNumOffset = previousFrameNumOffset &+ sps.maxFrameNum }
        previousFrameNum = frame_num
    }
}
