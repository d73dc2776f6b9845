internal import Glibc
internal import Synchronization

/// The process's environment variables.
package enum Environment {
    /// glibc's getenv reads what its setenv may free.
    private static let lock = Mutex<Void>(())

    /// The variable's value; nil where it is not set.
    package static func value(_ name: String) -> String? {
        // SAFETY: getenv's string is copied under the lock under which vaenc changes the environment.
        lock.withLock { _ in
            guard let text = unsafe getenv(name) else { return nil }
            return unsafe String(cString: text)
        }
    }

    /// Sets the variable, or takes it away.
    package static func set(_ name: String, _ value: String?) {
        // SAFETY: glibc locks the environment among its own writers; our readers are behind the lock.
        lock.withLock { _ in
            if let value {
                _ = unsafe setenv(name, value, 1)
            } else {
                _ = unsafe unsetenv(name)
            }
        }
    }
}
