import MediaFiles

/// What a bench is at, on stderr: on a terminal one line that is written over, from the first moment on; else a line for each step, from the
/// first run on: an error before it stands alone.
struct BenchProgress {
    private let isTerminal = Terminal.isInteractive
    private var width = 0
    private var done = 0
    /// Lines that wait for the first run.
    private var held: [String] = []
    /// Runs of all inputs together; nil until the encoders are known.
    var total: Int?

    /// Looking for devices, or reading an input.
    mutating func step(_ text: String) { show(text) }

    /// A run begins.
    mutating func run(_ encoder: String, input: String, qp: Int) {
        done += 1
        show("run \(done)\(total.map { " of \($0)" } ?? ""): \(encoder) at QP \(qp), \(input)")
    }

    /// Takes the line away, so that what comes next stands alone.
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
