/// The H.264 profiles of the driver, with their profile_idc and constraint flags.
package enum H264Profile: Sendable {
    case constrainedBaseline, main, high

    package var profile_idc: UInt8 {
        switch self {
        case .constrainedBaseline: 66
        case .main: 77
        case .high: 100
        }
    }

    /// The constraint flags, with constraint_set0_flag in the top bit.
    package var constraint_flags: UInt8 {
        switch self {
        case .constrainedBaseline: 0b1100_0000
        case .main: 0b0100_0000
        case .high: 0
        }
    }
}
