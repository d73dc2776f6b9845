import Glibc
import TestOracles

/// Measures how busy a simulated device is that takes a fixed time for each picture. The time begins with the first
/// picture.
enum DeviceUse {
    static let defaultRounds = 3

    /// One program with a number of frames in flight.
    private struct Entry {
        var name: String
        var contender: Contender
        var atLeast: Double?
    }

    static func run(_ options: BenchmarkOptions, _ report: Report) throws {
        try Workbench.with(rounds: options.runs ?? defaultRounds) { bench in
            let clip = try bench.raw(.nv12, width: 1920, height: 1080, frames: 600)
            for kilobytes in [25, 100] {
                for milliseconds in [1, 2, 4, 8] {
                    let name = "\(milliseconds) ms, \(kilobytes) kB"
                    do {
                        try measure(name, try entries(bench, clip, milliseconds: milliseconds, bytes: kilobytes * 1000), milliseconds, bench, report)
                    } catch { report.fail(name, error) }
                }
            }
        }
    }

    private static func entries(_ bench: Workbench, _ clip: Clip, milliseconds: Int, bytes: Int) throws -> [Entry] {
        // Two seconds of the device's time, but at most the clip.
        let frames = min(clip.frames, 2000 / milliseconds)
        var result = [
            Entry(name: "vaenc", contender: try bench.vaenc(clip, frames: frames, bytes: bytes), atLeast: 98),
            Entry(name: "FFmpeg", contender: try bench.ffmpeg(clip, frames: frames, bytes: bytes)),
        ]
        if let gstreamer = try bench.gstreamer(clip, frames: frames, bytes: bytes) { result.append(Entry(name: "GStreamer", contender: gstreamer)) }
        guard milliseconds == 4 else { return result }
        result += [
            Entry(
                name: "vaenc, depth 1", contender: try bench.vaenc(clip, frames: frames, bytes: bytes, options: ["--async-depth", "1"]), atLeast: 95),
            Entry(name: "FFmpeg, depth 1", contender: try bench.ffmpeg(clip, frames: frames, bytes: bytes, options: ["-async_depth", "1"])),
            Entry(name: "vaenc, depth 4", contender: try bench.vaenc(clip, frames: frames, bytes: bytes, options: ["--async-depth", "4"])),
            Entry(name: "FFmpeg, depth 4", contender: try bench.ffmpeg(clip, frames: frames, bytes: bytes, options: ["-async_depth", "4"])),
            Entry(name: "vaenc, two B pictures", contender: try bench.vaenc(clip, frames: frames, bFrames: 2, bytes: bytes)),
            Entry(name: "FFmpeg, two B pictures", contender: try bench.ffmpeg(clip, frames: frames, bFrames: 2, bytes: bytes)),
        ]
        return result
    }

    private static func measure(_ name: String, _ entries: [Entry], _ milliseconds: Int, _ bench: Workbench, _ report: Report) throws {
        var uses = [[Double]](repeating: [], count: entries.count)
        for _ in 0..<bench.rounds {
            for (index, entry) in entries.enumerated() { uses[index].append(try use(entry.contender, milliseconds, bench)) }
        }
        for (entry, values) in zip(entries, uses) {
            report.add(Figure("\(name): device busy, \(entry.name)", median(values) * 100, "%", atLeast: entry.atLeast))
        }
    }

    /// Runs a program once. Returns the part of the time in which the device was busy.
    private static func use(_ contender: Contender, _ milliseconds: Int, _ bench: Workbench) throws -> Double {
        let stats = bench.output("stats")
        unsafe unlink(stats)
        var slow = contender
        slow.environment["VAENC_NULL_MS"] = "\(milliseconds)"
        slow.environment["VAENC_NULL_STATS"] = stats
        _ = try slow.measure()
        // Each display that encodes adds a line. vaenc tries some pictures on a display of their own.
        let lines = String(decoding: try Files.read(stats), as: UTF8.self).split(separator: "\n").compactMap { JSONValue(String($0)) }
        guard let use = lines.max(by: { $0["pictures"]?.int ?? 0 < $1["pictures"]?.int ?? 0 })?["use"]?.double else {
            throw Unmeasurable(description: "\(contender.name): the driver wrote no counters")
        }
        return use
    }
}
