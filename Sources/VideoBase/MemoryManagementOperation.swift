/// A memory_management_control_operation with its operands, H.264 7.4.3.3 and 8.2.5.4. One module plans the operations,
/// and another one writes them.
package enum MemoryManagementOperation: Sendable, Hashable {
    /// Operation 1: a short-term picture is no longer used for reference.
    case forgetShortTerm(difference_of_pic_nums: Int)
    /// Operation 2: a long-term picture is no longer used for reference.
    case forgetLongTerm(long_term_pic_num: Int)
    /// Operation 3: a short-term picture becomes a long-term picture.
    case makeLongTerm(difference_of_pic_nums: Int, long_term_frame_idx: Int)
    /// Operation 4: sets the number of long-term frame indices (0: none).
    case setLongTermCount(max_long_term_frame_idx_plus1: Int)
    /// Operation 5: no earlier picture is used for reference any more.
    case forgetAll
    /// Operation 6: the current picture becomes a long-term picture.
    case makeCurrentLongTerm(long_term_frame_idx: Int)
}
