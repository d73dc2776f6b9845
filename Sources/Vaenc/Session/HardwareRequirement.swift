import VAAPI
import VideoBase

/// The remedies of errors if software is not allowed.
enum HardwareRequirement {
    /// Returns the error without the advice to use the software encoder or decoder, which `requireHardware` excludes.
    static func advised(_ error: any Error) -> any Error {
        switch error {
        case var error as VaencError:
            error.remedy = error.remedy.map { remedy($0) }
            return error
        case var error as VAError:
            error.remedy = error.remedy.map { remedy($0) }
            return error
        default: return error
        }
    }

    private static func remedy(_ text: String) -> String {
        let software = "`device: .software`"
        guard text.contains(software) else { return text }
        // Keep the other advice.
        for ending in [", or use \(software)", ", or \(software)", "; use \(software) (libx264 and libx265)"] where text.hasSuffix(ending) {
            return String(text.dropLast(ending.count))
        }
        return "leave out `requireHardware`"
    }
}
