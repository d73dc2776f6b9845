import MediaFiles

/// Shows the bench's progress on stderr. On a terminal it is one line that is overwritten. Otherwise it is a line for
/// each step, printed from the first run on, so that an earlier error stands alone.
struct BenchProgress {
    private let isTerminal = Terminal.isInteractive
    private var width = 0
    private var done = 0
    /// Lines that wait for the first run.
    private var held: [String] = []
    /// The number of runs for all inputs; nil until the encoders are known.
    var total: Int?

    /// Shows a step that is not a run: the search for encoders, or the reading of an input.
    mutating func step(_ text: String) { show(text) }

    /// Shows the start of a run.
    mutating func run(_ encoder: String, input: String, qp: Int) {
        done += 1
        show("run \(done)\(total.map { " of \($0)" } ?? ""): \(encoder) at QP \(qp), \(input)")
    }

    /// Removes the line, so that the next output stands alone.
    mutating func finish() {
        if isTerminal, width > 0 { Terminal.write("\r" + String(repeating: " ", count: width) + "\r", to: 2) }
        width = 0
    }

    private mutating func show(_ text: String) {
        guard isTerminal else {
            held.append("bench: \(text)")
            if done == 0 { return }
            for line in held { Terminal.note(line) }
            held = []
            return
        }
        let text = FileName.printable(text)
        Terminal.write("\r" + text + String(repeating: " ", count: max(0, width - text.count)), to: 2)
        width = text.count
    }
}
