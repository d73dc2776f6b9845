extension Display {
    /// The VADisplay, for a library that calls libva itself.
    ///
    /// The library must release it before this object is destroyed, and must make its calls through `watch`.
    @unsafe package var native: UnsafeMutableRawPointer { unsafe handle }
}
