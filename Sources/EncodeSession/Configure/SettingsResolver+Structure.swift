import H264Syntax
import VideoBase

extension SettingsResolver {
    /// Frames from a key frame to the next.
    mutating func chooseGOP(_ limits: DeviceLimits) -> Int {
        let rate = asked.frameRate.value
        func fromSeconds(_ seconds: Double) -> Int { max(Int((seconds * rate).rounded()), 1) }
        let used: Int
        let why: String
        if limits.maxReferences0 == 0 {
            used = 1
            why = "the device predicts from no reference"
        } else if let frames = asked.gopFrames {
            let limit = asked.gopSeconds.map(fromSeconds) ?? frames
            used = min(frames, limit)
            why = limit < frames ? "gop-seconds comes first" : Reason.asked
        } else if let seconds = asked.gopSeconds {
            used = fromSeconds(seconds)
            why = "\(seconds) s"
        } else {
            used = fromSeconds(5)
            why = "5 s"
        }
        report.add("gop", asked: asked.gopFrames, used: used, why: why)
        return used
    }

    /// References and level bind each other: a level limits the buffer, the buffer raises the level.
    mutating func chooseReferencesAndLevel(
        _ limits: DeviceLimits, coded: VideoSize, keyInterval: Int
    ) throws -> (references: Int, level: Level) {
        var wantedLevel: Level?
        if let number = asked.level {
            guard let level = Level(number: number) else {
                let all = Level.all.map(\.name).joined(separator: " ")
                throw VaencError(.usage, "H.264 has no level \(number)", remedy: "the levels are \(all)")
            }
            wantedLevel = level
        }
        let rate = asked.frameRate
        func lowest(_ references: Int) -> Level? {
            Level.lowest(
                codedSize: coded, frameRate: rate, references: references, bitrate: nil, profile: limits.profile)
        }
        guard let floor = lowest(1) else {
            throw VaencError(
                .unavailable,
                "\(asked.size) at \(asked.frameRate) frames per second exceeds H.264's highest level, 6.2",
                remedy: "scale with --size, or lower --fps")
        }
        // A level that the pictures do not fit is raised; one that only the references do not fit limits those.
        var references = max(min(asked.references ?? 1, max(limits.maxReferences0, 1)), 1)
        var why =
            asked.references == nil ? Reason.standard : references == asked.references ? Reason.asked : "driver limit"
        let basis = wantedLevel.map { level in
            level.allows(
                codedSize: coded, frameRate: rate, references: 1, bitrate: nil, profile: limits.profile) ? level : floor
        }
        let room = (basis ?? Level.all[Level.all.count - 1]).maxDpbFrames(codedSize: coded)
        if references > room {
            references = room
            why = "level \((basis ?? floor).name) holds no more"
        }
        let level = basis ?? lowest(references) ?? floor
        report.add("references", asked: asked.references, used: references, why: why)
        report.add(
            "level", asked: wantedLevel?.name, used: level.name,
            why: wantedLevel == nil
                ? "lowest for the size, rate and references"
                : level == wantedLevel ? Reason.asked : "needed by \(asked.size) at \(asked.frameRate)")
        return (references, level)
    }

    mutating func chooseSlices(_ limits: DeviceLimits, rows: Int) -> [Int] {
        let wanted = asked.slices ?? 1
        let most = max(min(wanted, rows, limits.maxSlices), 1)
        let firstRows = SlicePartition.firstRows(rows: rows, slices: most, structure: limits.sliceStructure)
        let used = firstRows.count
        let why =
            asked.slices == nil
            ? Reason.standard
            : used == wanted
                ? Reason.asked
                : wanted > rows && rows <= limits.maxSlices && used == rows
                    ? "a slice has at least one macroblock row" : "driver limit"
        report.add("slices", asked: asked.slices, used: used, why: why)
        return firstRows
    }

    mutating func chooseAsyncDepth() -> Int {
        let used = asked.lowLatency ? 1 : asked.asyncDepth ?? 2
        report.add(
            "asyncDepth", asked: asked.asyncDepth, used: used,
            why: asked.lowLatency ? "low latency" : asked.asyncDepth == nil ? Reason.standard : Reason.asked)
        if asked.lowLatency { report.add("lowLatency", asked: "on", used: "on", why: Reason.asked) }
        return used
    }
}
