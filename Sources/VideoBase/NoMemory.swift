extension VaencError {
    /// The remedy for a lack of memory.
    package static let memoryRemedy = "close other programs, or raise the memory limit (ulimit -v)"

    /// Returns the error for memory that a C library failed to allocate.
    ///
    /// - Parameter purpose: The purpose of the memory, such as `to read movie.mp4`.
    package static func noMemory(_ purpose: String) -> VaencError {
        VaencError(.unavailable, "no memory \(purpose)", remedy: memoryRemedy).about(.resources)
    }
}

extension VaencError {
    /// Returns the error for a library that cannot be loaded because of a lack of memory or file descriptors, or nil if
    /// the loader reports another reason.
    ///
    /// - Parameters:
    ///   - words: The loader's message.
    ///   - purpose: The purpose of loading, such as `to load libavcodec`.
    package static func loaderLack(_ words: String, _ purpose: String) -> VaencError? {
        if words.contains("Too many open files") { return VaencError.noDescriptor("\(purpose) (\(words))") }
        // For a lack of memory, the loader reports only that a mapping failed.
        let memory = ["annot allocate", "ut of memory", "failed to map segment", "cannot map zero-fill pages"]
        guard memory.contains(where: { words.contains($0) }), !words.contains("Operation not permitted") else { return nil }
        return VaencError.noMemory("\(purpose) (\(words))")
    }

    /// Returns the error for threads that the system does not start.
    ///
    /// - Parameter purpose: The purpose of the threads, such as `to decode`.
    package static func noThread(_ purpose: String) -> VaencError {
        VaencError(
            .unavailable, "no thread \(purpose)",
            remedy: "close other programs, or raise the process and memory limits (ulimit -u, ulimit -v)"
        ).about(.resources)
    }

    /// Returns the error for file descriptors that the system does not provide.
    ///
    /// - Parameter purpose: The purpose of the descriptors, such as `to load libavcodec`.
    package static func noDescriptor(_ purpose: String) -> VaencError {
        VaencError(
            .unavailable, "no file descriptor \(purpose)",
            remedy: "close other files, or raise the limit on open files (ulimit -n)"
        ).about(.resources)
    }
}
