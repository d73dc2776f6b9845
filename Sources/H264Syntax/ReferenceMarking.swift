import NALUnits
import VideoBase

/// An operation of ref_pic_list_modification(), H.264 7.3.3.1 and 8.2.4.3.
package enum ReferenceListModification: Sendable, Hashable {
    /// modification_of_pic_nums_idc 0: selects a picture number that is smaller by abs_diff_pic_num (at least 1).
    case subtract(abs_diff_pic_num: Int)
    /// modification_of_pic_nums_idc 1: selects a picture number that is larger by abs_diff_pic_num (at least 1).
    case add(abs_diff_pic_num: Int)
    /// modification_of_pic_nums_idc 2: selects a long-term picture.
    case longTerm(long_term_pic_num: Int)
}

extension MemoryManagementOperation {
    /// Writes memory_management_control_operation with its operands, H.264 7.3.3.3.
    func write(to w: inout BitWriter) {
        switch self {
        case .forgetShortTerm(let difference_of_pic_nums):
            w.ue(1)
            w.ue(difference_of_pic_nums - 1)
        case .forgetLongTerm(let long_term_pic_num):
            w.ue(2)
            w.ue(long_term_pic_num)
        case .makeLongTerm(let difference_of_pic_nums, let long_term_frame_idx):
            w.ue(3)
            w.ue(difference_of_pic_nums - 1)
            w.ue(long_term_frame_idx)
        case .setLongTermCount(let max_long_term_frame_idx_plus1):
            w.ue(4)
            w.ue(max_long_term_frame_idx_plus1)
        case .forgetAll:
            w.ue(5)
        case .makeCurrentLongTerm(let long_term_frame_idx):
            w.ue(6)
            w.ue(long_term_frame_idx)
        }
    }
}

extension ReferenceListModification {
    /// Writes modification_of_pic_nums_idc with its operand, H.264 7.3.3.1.
    func write(to w: inout BitWriter) {
        switch self {
        case .subtract(let abs_diff_pic_num):
            w.ue(0)
            w.ue(abs_diff_pic_num - 1)
        case .add(let abs_diff_pic_num):
            w.ue(1)
            w.ue(abs_diff_pic_num - 1)
        case .longTerm(let long_term_pic_num):
            w.ue(2)
            w.ue(long_term_pic_num)
        }
    }
}
