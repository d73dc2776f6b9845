import VideoBase

/// Messages about older recordings that were kept.
package enum KeptRecording {
    /// Returns the message about an older unfinished recording.
    ///
    /// - Parameter path: The name of the kept recording.
    package static func notice(_ path: String) -> String { "an older unfinished recording is kept as \(path)" }

    /// Returns an error that names the kept parts of recordings; the error itself if there are none.
    package static func error(_ error: any Error, parts: [String]) -> any Error {
        if parts.isEmpty { return error }
        let described = error as? any DescribedError
        let what = parts.count == 1 ? "recording up to this error is" : "recordings up to this error are"
        return VaencError(
            described?.category ?? .internalFault, described?.message ?? "\(error)", remedy: "the \(what) in \(parts.joined(separator: ", "))")
    }
}

extension PacketSink {
    /// Ends writing after an error, and keeps the playable part of a recording: a live input cannot be read again. After
    /// an interruption, a refusal (`unavailable`) or missing permission nothing is kept.
    /// - Returns: The path of the kept part; nil if nothing is kept.
    package func abandon(after error: any Error) -> String? {
        let category = (error as? any DescribedError)?.category ?? .internalFault
        guard [.inputOutput, .deviceFailed, .cannotCreate, .internalFault, .badInput, .usage].contains(category), let part = abandon() else {
            cancel()
            return nil
        }
        return part
    }

    /// The message about an older recording that was kept; nil if there was none.
    package var keptNotice: String? { keptPart.map(KeptRecording.notice) }
}
