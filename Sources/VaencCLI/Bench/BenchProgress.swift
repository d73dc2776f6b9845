import MediaFiles

/// What a bench is at, on stderr from its first moment on: on a terminal one line that is written over, else a line for each step.
struct BenchProgress {
    private let isTerminal = Terminal.isInteractive
    private var width = 0
    private var done = 0
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
        guard isTerminal else { return Terminal.note("bench: \(text)") }
        let text = FileName.printable(text)
        Terminal.write("\r" + text + String(repeating: " ", count: max(0, width - text.count)), to: 2)
        width = text.count
    }
}
