import Glibc
import MediaFiles
import Synchronization
import Threads
import VideoBase

/// Shows the bench's progress on stderr. On a terminal it is one line that is overwritten, each second and at each step.
/// Otherwise it is a line for each step, printed from the first run on, so that an earlier error stands alone.
final class BenchProgress: Sendable {
    private struct State {
        var text = ""
        var width = 0
        var isEnded = false
        /// Lines that wait for the first run.
        var held: [String] = []
        /// The number of runs for all inputs, pictures included; nil until the encoders are known.
        var total: Int?
        var done = 0
        /// The current run's encoder and start; nil between runs.
        var current: (encoder: String, start: Double)?
        var estimate = BenchEstimate()
    }

    private let isTerminal = Terminal.isInteractive
    private let state = Mutex(State())

    /// Starts the line of a terminal.
    func start() {
        guard isTerminal else { return }
        _ = DedicatedThread.start("vaenc-progress") { [self] in
            while state.withLock({ state in
                if !state.isEnded { draw(&state) }
                return !state.isEnded
            }) { usleep(1_000_000) }
        }
    }

    /// Sets the runs to do: for each encoder, its number of runs.
    func plan(_ runs: [(encoder: String, count: Int)]) {
        state.withLock { state in
            state.total = runs.reduce(0) { $0 + $1.count }
            state.estimate.plan(runs)
        }
    }

    /// Shows a step that is not a run: the search for encoders, or the reading of an input.
    func step(_ text: String) {
        state.withLock { state in
            state.current = nil
            state.text = text
            show(&state)
        }
    }

    /// Shows the start of a run.
    ///
    /// - Parameter setting: The QP, or what the run is for.
    func run(_ encoder: String, _ setting: String, input: String) {
        state.withLock { state in
            state.done += 1
            state.current = (encoder, Clock.now)
            state.text = "\(encoder) \(setting), \(input)"
            show(&state)
        }
    }

    /// Counts the current run as finished.
    func runEnds() {
        state.withLock { state in
            if let (encoder, start) = state.current { state.estimate.add(encoder, seconds: Clock.now - start) }
            state.current = nil
        }
    }

    /// Removes the line, so that the next output stands alone. Nothing is shown afterwards.
    func finish() {
        state.withLock { state in
            if isTerminal, state.width > 0 { Terminal.write("\r" + String(repeating: " ", count: state.width) + "\r", to: 2) }
            state.width = 0
            state.isEnded = true
        }
    }

    private func show(_ state: inout State) {
        if state.isEnded { return }
        if isTerminal { return draw(&state) }
        state.held.append("bench: \(line(state))")
        if state.done == 0 { return }
        for line in state.held { Terminal.note(line) }
        state.held = []
    }

    private func draw(_ state: inout State) {
        let text = FileName.printable(line(state))
        Terminal.write("\r" + Terminal.visible(text) + String(repeating: " ", count: max(0, state.width - text.count)), to: 2)
        state.width = text.count
    }

    private func line(_ state: State) -> String {
        guard state.current != nil else { return state.text }
        let left = state.estimate.secondsLeft(in: state.current.map { Clock.now - $0.start } ?? 0).map { " (\(Self.words($0)) left)" }
        // The first run has no estimate. On a terminal its time shows that the program works.
        let elapsed = isTerminal ? state.current.map { " (\(decimal(Clock.now - $0.start, 0)) s)" } : nil
        return "run \(state.done)\(state.total.map { " of \($0)" } ?? "")\(left ?? elapsed ?? ""): \(state.text)"
    }

    /// Returns a duration in words, such as `about 40 s` or `about 3 min`.
    private static func words(_ seconds: Double) -> String {
        seconds < 100 ? "about \(decimal(seconds.rounded(.up), 0)) s" : "about \(decimal(seconds / 60, 0)) min"
    }
}
