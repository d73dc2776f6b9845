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

extension VaencError {
    /// Threads that the system does not start.
    ///
    /// - Parameter purpose: what they were for, as `to decode`.
    package static func noThread(_ purpose: String) -> VaencError {
        VaencError(
            .unavailable, "no thread \(purpose)",
            remedy: "end other programs, or raise the limits of processes and memory (ulimit -u, ulimit -v)")
    }

    /// File descriptors that the system does not give.
    ///
    /// - Parameter purpose: what they were for, as `to load libavcodec`.
    package static func noDescriptor(_ purpose: String) -> VaencError {
        VaencError(
            .unavailable, "no file descriptor \(purpose)", remedy: "close other files, or raise the limit of open files (ulimit -n)")
    }
}
