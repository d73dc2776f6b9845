import VideoBase

/// Messages about older recordings that were kept.
package enum KeptRecording {
    /// Returns the message about an older unfinished recording.
    ///
    /// - Parameter path: The name of the kept recording.
    package static func notice(_ path: String) -> String { "an older unfinished recording is kept as \(path)" }
}

extension PacketSink {
    /// Ends writing after an error, and keeps the playable part of a recording: a live input cannot be read again. After
    /// an interruption, a refusal (`unavailable`) or missing permission nothing is kept.
    /// - Returns: The error, with the path of the kept part if there is one.
    package func abandon(after error: any Error) -> any Error {
        let described = error as? any DescribedError
        let category = described?.category ?? .internalFault
        guard [.inputOutput, .deviceFailed, .cannotCreate, .internalFault, .badInput, .usage].contains(category), let part = abandon() else {
            cancel()
            return error
        }
        return VaencError(
            category, described?.message ?? "\(error)", remedy: "the recording up to this error is in \(part)")
    }

    /// The message about an older recording that was kept; nil if there was none.
    package var keptNotice: String? { keptPart.map(KeptRecording.notice) }
}
