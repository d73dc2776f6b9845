import Glibc

/// Waits for effects on other threads that report nothing.
public enum Polling {
    /// Returns as soon as `isSo` is true, at the latest after 60,000 checks with a millisecond between them. The caller
    /// then checks the effect itself.
    public static func wait(until isSo: () -> Bool) {
        for _ in 0..<60_000 {
            if isSo() { return }
            usleep(1000)
        }
    }
}
