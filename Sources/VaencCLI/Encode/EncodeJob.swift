import MediaFiles
import Synchronization
import Vaenc

/// One run of the command `encode`: its transcoder, and the display of its progress and notices.
struct EncodeJob {
    let transcoder: Transcoder
    let info: SourceInfo
    let interruption: Interruption
    let progress: ProgressLine.Style
    /// Whether notices are also printed on stderr as they arise. Otherwise only the report contains them.
    let printsNotices: Bool
    /// Notices about the command line.
    let hints: [String]

    /// Encodes the input, finishes the outputs and reports the result.
    ///
    /// - Returns: The report, and the first error that ended an output if other outputs succeeded.
    func run() throws -> (report: EncodeReport, failure: (any Error)?) {
        interruption.whenFirst { [transcoder] in transcoder.cancel() }
        interruption.whenSecond { [transcoder] in transcoder.abandon() }
        // In a script's log an error stands alone: without a terminal, the first notices are printed only after
        // success.
        let printsImmediately = Terminal.isInteractive || info.isLive
        let line = Mutex(ProgressLine(style: progress))
        defer { line.withLock { $0.clear() } }
        if printsNotices, printsImmediately { hints.forEach(Terminal.note) }
        let result = try transcoder.run { state in
            line.withLock { $0.update(state) }
        } onNotice: { notice in
            guard printsNotices else { return }
            switch notice.moment {
            case .start: if printsImmediately { Terminal.note(notice.text) }
            case .preparation, .running: Terminal.note(notice.text)
            case .end: break
            }
        }
        line.withLock { $0.clear() }
        interruption.whenSecond(nil)
        if printsNotices, !printsImmediately { hints.forEach(Terminal.note) }
        for notice in result.allNotices where printsNotices {
            if notice.moment == .end || notice.moment == .start && !printsImmediately { Terminal.note(notice.text) }
        }
        return (EncodeReport(result, hints: hints), result.outputs.lazy.compactMap(\.error).first)
    }
}
