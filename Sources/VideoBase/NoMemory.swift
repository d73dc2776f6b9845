extension VaencError {
    /// What to do where there is no memory.
    package static let memoryRemedy = "end other programs, or raise the limit of memory (ulimit -v)"

    /// Memory that a C library was asked for and did not give.
    ///
    /// - Parameter purpose: what it was for, as `to read movie.mp4`.
    package static func noMemory(_ purpose: String) -> VaencError {
        VaencError(.unavailable, "no memory \(purpose)", remedy: memoryRemedy)
    }
}

extension VaencError {
    /// The error of a library that the loader has no memory or no file descriptor for; nil where it says another reason.
    ///
    /// - Parameters:
    ///   - words: the loader's.
    ///   - purpose: as `to load libavcodec`.
    package static func loaderLack(_ words: String, _ purpose: String) -> VaencError? {
        if words.contains("Too many open files") { return VaencError.noDescriptor("\(purpose) (\(words))") }
        // The loader says no more of memory than that it mapped nothing.
        let memory = ["annot allocate", "ut of memory", "failed to map segment", "cannot map zero-fill pages"]
        guard memory.contains(where: { words.contains($0) }), !words.contains("Operation not permitted") else { return nil }
        return VaencError.noMemory("\(purpose) (\(words))")
    }

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
