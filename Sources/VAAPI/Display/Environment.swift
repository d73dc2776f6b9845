internal import Glibc

/// The process's environment variables.
package enum Environment {
    /// The variable's value; nil where it is not set.
    package static func value(_ name: String) -> String? {
        // SAFETY: getenv's string is copied before anything else runs here; vaenc changes the environment only in
        // ReferenceDisplay, under a lock, before it starts threads that read it.
        guard let text = unsafe getenv(name) else { return nil }
        return unsafe String(cString: text)
    }
}
