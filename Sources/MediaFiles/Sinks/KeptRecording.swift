import VideoBase

package enum KeptRecording {
    /// - Parameter path: the name that the recording was given.
    package static func notice(_ path: String) -> String { "an older recording that was not finished is kept as \(path)" }
}

extension PacketSink {
    /// Ends writing after an error. What plays of a recording stays where the error is none of its input's or user's.
    /// - Returns: the error, which then says where.
    package func abandon(after error: any Error) -> any Error {
        let described = error as? any DescribedError
        let category = described?.category ?? .internalFault
        guard [.inputOutput, .deviceFailed, .cannotCreate, .internalFault].contains(category), let part = abandon() else {
            cancel()
            return error
        }
        return VaencError(category, described?.message ?? "\(error)", remedy: "what was recorded until then is in \(part)")
    }

    /// What a person should know of an older recording; nil where there was none.
    package var keptNotice: String? { keptPart.map(KeptRecording.notice) }
}
