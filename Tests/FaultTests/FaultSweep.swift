import Glibc
import Synchronization
import TestOracles
import VAAPI

/// Sweeps every VA call of a session × every kind of fault × its first, middle and last occurrence.
struct FaultSweep: Sendable {
    struct Kind: Sendable, Hashable {
        var name: String
        var what: String
        /// Whether the fault lasts from that occurrence on.
        var lasts = false
        /// Whether threads sleep during the fault.
        var isSlow = false
    }

    struct Cell: Sendable {
        var shape: FaultRun.Shape
        var call: String
        var kind: Kind
        /// The number of the call, counted from 1.
        var time: Int
        /// The column among those of its kind.
        var column: Int

        var rule: String { "\(call)@\(time)\(kind.lasts ? "+" : "")=\(kind.what)" }
    }

    struct Result: Sendable {
        var cell: Cell
        var mark: Character
        var faults: [String]
    }

    private static let always = [
        Kind(name: "failed", what: "status:1"),
        Kind(name: "lost", what: "lost"),
        Kind(name: "corrupt", what: "corrupt"),
    ]
    private static let hang = Kind(name: "hang", what: "hang", isSlow: true)

    /// Returns the kinds of faults of a shape. The meaning of a status and the timeout of a call do not depend on the
    /// codec, so HEVC's shapes have only the faults that lead to another picture, and calls that hang once.
    static func kinds(_ shape: FaultRun.Shape) -> [Kind] {
        let more: [Kind] =
            switch shape {
            case .ip:
                [
                    hang, Kind(name: "bad context", what: "status:5"), Kind(name: "unknown", what: "status:-1"),
                    Kind(name: "lacking", what: "status:20"), Kind(name: "timeout", what: "status:38"),
                    Kind(name: "delay", what: "delay:30", isSlow: true),
                    Kind(name: "permanent", what: "status:1", lasts: true),
                ]
            case .b:
                [
                    hang, Kind(name: "encoding", what: "status:24"), Kind(name: "no memory", what: "status:2"),
                    Kind(name: "permanent", what: "status:24", lasts: true),
                ]
            case .ownRate: [hang, Kind(name: "busy", what: "status:34"), Kind(name: "bad surface", what: "status:6")]
            case .hevc: [hang, Kind(name: "permanent", what: "status:1", lasts: true)]
            case .hevcB: [Kind(name: "permanent", what: "status:24", lasts: true)]
            case .hevcGPB: []
            }
        return always + more
    }

    /// The error marks that a driver can set on coded data.
    private static let allMarks = [
        Kind(name: "bad stream", what: "corrupt:0x8000"), Kind(name: "slice overflow", what: "corrupt:0x200"),
        Kind(name: "frame overflow", what: "corrupt:0x1000"), Kind(name: "rate overflow", what: "corrupt:0x400"),
    ]
    /// Returns the marks of a shape. They are handled alike for all pictures; for reordered HEVC pictures only the
    /// recovery after a broken one differs.
    static func marks(_ shape: FaultRun.Shape) -> [Kind] { shape == .hevcB ? Array(allMarks.prefix(1)) : allMarks }

    /// Returns the number of each call in a run without faults.
    static func counts(_ shape: FaultRun.Shape) throws -> (run: FaultRun, counts: [String: Int]) {
        try Files.withTemporaryFolder { folder in
            let run = FaultRun(
                shape.configuration, "", personality: shape.personality, trace: folder + "/calls")
            var counts: [String: Int] = [:]
            for line in String(decoding: try Files.read(folder + "/calls"), as: UTF8.self).split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count == 2 { counts[String(words[0])] = Int(words[1]) }
            }
            return (run, counts)
        }
    }

    static func cells(_ shape: FaultRun.Shape, _ counts: [String: Int]) -> [Cell] {
        var cells: [Cell] = []
        for (call, count) in counts.sorted(by: { $0.key < $1.key }) {
            let times = [1, (count + 1) / 2, count]
            for kind in kinds(shape) {
                for (column, time) in times.enumerated() where column == times.firstIndex(of: time) {
                    cells.append(Cell(shape: shape, call: call, kind: kind, time: time, column: column))
                }
            }
            guard call == "vaMapBuffer" else { continue }
            for kind in marks(shape) {
                for time in 1...count { cells.append(Cell(shape: shape, call: call, kind: kind, time: time, column: time)) }
            }
        }
        return cells
    }

    /// Runs the cells on the given number of threads.
    static func run(_ cells: [Cell], threads: Int, limitMilliseconds: UInt64) throws -> [Result] {
        let work = Work(cells)
        let workers = try (0..<threads).map { _ in try DeviceThread("test") }
        for worker in workers {
            worker.async {
                while let cell = work.next() {
                    let run = FaultRun(
                        cell.shape.configuration, cell.rule, limitMilliseconds: limitMilliseconds,
                        personality: cell.shape.personality)
                    work.add(
                        Result(cell: cell, mark: run.outcome.rawValue, faults: run.faults()))
                }
            }
        }
        for worker in workers { worker.sync {} }
        return work.results
    }

    private final class Work: Sendable {
        private let state: Mutex<(cells: [Cell], results: [Result])>

        init(_ cells: [Cell]) { state = Mutex((cells.reversed(), [])) }

        var results: [Result] { state.withLock { $0.results } }

        func next() -> Cell? { state.withLock { $0.cells.popLast() } }

        func add(_ result: Result) { state.withLock { $0.results.append(result) } }
    }

    /// Returns a table with a row per call and a column per kind. Each field has the first, middle and last occurrence,
    /// or one mark if they are the same.
    static func table(_ results: [Result], _ shape: FaultRun.Shape) -> String {
        let own = results.filter { $0.cell.shape == shape }
        let kinds = kinds(shape) + marks(shape)
        let calls = Set(own.map(\.cell.call)).sorted()
        func pad(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(width - text.count, 0))
        }
        var lines = ["\(shape.rawValue)  (w whole stream, s whole but for counted frames, e one error)"]
        lines.append(pad("", 26) + kinds.map { pad($0.name, 16) }.joined())
        for call in calls {
            let fields = kinds.map { kind in
                let marks = own.filter { $0.cell.call == call && $0.cell.kind == kind }
                    .sorted { $0.cell.column < $1.cell.column }.map { $0.faults.isEmpty ? $0.mark : "!" }
                // If every occurrence of a call was tested, the field has only counts.
                let text =
                    marks.count <= 3
                    ? String(marks)
                    : Dictionary(grouping: marks) { $0 }
                        .map { "\($0.value.count)\($0.key)" }.sorted().joined(separator: "+")
                return pad(text, 16)
            }
            lines.append(pad(call, 26) + fields.joined())
        }
        return lines.joined(separator: "\n")
    }
}
