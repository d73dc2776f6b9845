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
        // Keep the other advice.
        for ending in [VaencError.orSoftware, RenderNode.softwareAdvice] where text.hasSuffix(ending) {
            return String(text.dropLast(ending.count))
        }
        return text.contains(VaencError.softwareAdvice) ? "leave out `requireHardware`" : text
    }
}
