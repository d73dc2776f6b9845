/// memory_management_control_operation, H.264 7.4.3.3 and 8.2.5.4, with its operands: planned by one module, written by
/// another.
package enum MemoryManagementOperation: Sendable, Hashable {
    /// 1: a short-term picture is no longer a reference.
    case forgetShortTerm(difference_of_pic_nums: Int)
    /// 2: a long-term picture is no longer a reference.
    case forgetLongTerm(long_term_pic_num: Int)
    /// 3: a short-term picture becomes a long-term one.
    case makeLongTerm(difference_of_pic_nums: Int, long_term_frame_idx: Int)
    /// 4: how many long-term indices there are (0: none).
    case setLongTermCount(max_long_term_frame_idx_plus1: Int)
    /// 5: nothing before is a reference.
    case forgetAll
    /// 6: the current picture becomes a long-term one.
    case makeCurrentLongTerm(long_term_frame_idx: Int)
}
