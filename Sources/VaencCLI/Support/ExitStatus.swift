import VideoBase

extension ErrorCategory {
    /// The exit status of the command line, sysexits.h; 130 is the shells' status of a program that SIGINT ended.
    var exitStatus: Int32 {
        switch self {
        case .usage: 64
        case .badInput: 65
        case .noInput: 66
        case .unavailable: 69
        case .internalFault: 70
        case .cannotCreate: 73
        case .inputOutput: 74
        case .deviceFailed: 75
        case .noPermission: 77
        case .interrupted: 130
        }
    }
}
