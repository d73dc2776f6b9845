extension VaencError {
    /// Memory that a C library was asked for and did not give.
    ///
    /// - Parameter purpose: what it was for, as `to read movie.mp4`.
    package static func noMemory(_ purpose: String) -> VaencError {
        VaencError(
            .unavailable, "no memory \(purpose)", remedy: "end other programs, or raise the limit of memory (ulimit -v)"
        )
    }
}
