import TestOracles

/// One comparison of the part `host`: the same work for vaenc, FFmpeg and others.
struct HostCase {
    /// The upper limits of vaenc's cost, relative to another program's.
    struct Limits {
        var cpu: Double? = 0.75
        var wall: Double?
        var peak: Double?
        var read: Double?
    }

    struct Programs {
        var ours: Contender
        var theirs: Contender
        var gstreamer: Contender?
        /// Reads the bytes and does nothing else.
        var read: Contender?
        /// Decodes the input and does nothing else. Its cost is subtracted from both programs'.
        var decode: Contender?
        /// The same programs with one frame, to exclude the cost of the start.
        var first: (ours: Contender, theirs: Contender)?
        /// The number of frames that each program encodes.
        var frames: Int
        /// The clip, if no later case uses it.
        var clip: Clip?

        init(_ ours: Contender, _ theirs: Contender, frames: Int) {
            self.ours = ours
            self.theirs = theirs
            self.frames = frames
        }
    }

    /// The name for `--cases`.
    var name: String
    var title: String
    var limits: Limits
    var prepare: (Workbench) throws -> Programs

    init(_ name: String, _ title: String, _ limits: Limits = Limits(), _ prepare: @escaping (Workbench) throws -> Programs) {
        self.name = name
        self.title = title
        self.limits = limits
        self.prepare = prepare
    }

    /// Runs the programs in turn and reports their costs and the ratios.
    func run(_ bench: Workbench, _ report: Report) throws {
        let programs = try prepare(bench)
        defer { if let clip = programs.clip { bench.discard(clip) } }
        var contenders: [(role: String, contender: Contender)] = [("vaenc", programs.ours), ("FFmpeg", programs.theirs)]
        if let gstreamer = programs.gstreamer { contenders.append(("GStreamer", gstreamer)) }
        if let read = programs.read { contenders.append(("bare read", read)) }
        if let decode = programs.decode { contenders.append(("decoding alone", decode)) }
        let shown = contenders.count
        if let first = programs.first { contenders += [("first", first.ours), ("first", first.theirs)] }
        let costs = try Cost.measure(contenders.map(\.contender), rounds: bench.rounds)

        report.heading("\(name): \(title)")
        let names = contenders.prefix(shown).map(\.role)
        func list(_ what: String, _ unit: String, _ value: (Cost) -> Double) {
            report.list("\(name): \(what)", unit, Array(zip(names, costs.map(value))))
        }
        list("CPU time per frame", "ms") { median($0.cpu) * 1000 / Double(programs.frames) }
        list("peak memory", "MiB") { median($0.peak) / 1024 }
        for figure in ratios(Dictionary(zip(names, costs)) { first, _ in first }, first: Array(costs.dropFirst(shown)), programs) {
            report.add(figure)
        }
    }

    private func ratios(_ costs: [String: Cost], first: [Cost], _ programs: Programs) -> [Figure] {
        guard let ours = costs["vaenc"], let theirs = costs["FFmpeg"] else { return [] }
        var figures: [Figure] = []
        func add(_ what: String, _ value: Double, atMost limit: Double? = nil) {
            figures.append(Figure("\(name): \(what)", value, "", atMost: limit))
        }
        if let decode = costs["decoding alone"] {
            add("CPU above decoding, relative to FFmpeg", ours.cpuRatio(to: theirs, above: decode), atMost: limits.cpu)
            add("CPU with decoding, relative to FFmpeg", ours.ratio(\.cpu, to: theirs))
        } else {
            add("CPU relative to FFmpeg", ours.ratio(\.cpu, to: theirs), atMost: limits.cpu)
        }
        if first.count == 2 {
            let mine = median(ours.cpu) - median(first[0].cpu), other = median(theirs.cpu) - median(first[1].cpu)
            add("CPU after the first frame, relative to FFmpeg", mine / other)
        }
        if let gstreamer = costs["GStreamer"] { add("CPU relative to GStreamer", ours.ratio(\.cpu, to: gstreamer)) }
        if let read = costs["bare read"] { add("CPU relative to a bare read", ours.ratio(\.cpu, to: read), atMost: limits.read) }
        add("elapsed time relative to FFmpeg", ours.ratio(\.wall, to: theirs), atMost: limits.wall)
        add("peak memory relative to FFmpeg", ours.ratio(\.peak, to: theirs), atMost: limits.peak)
        return figures
    }
}
