extension Display {
    /// The VADisplay, for a library that makes its own calls on it. It must let go of it before this object is gone, and its
    /// calls go through `watch`.
    @unsafe package var native: UnsafeMutableRawPointer { unsafe handle }
}
