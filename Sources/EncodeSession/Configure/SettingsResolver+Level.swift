import EncodePlanning
import VideoBase

/// Chooses the level, and HEVC's tier: the requested level if the pictures fit, otherwise the lowest level that allows
/// them.
extension SettingsResolver {
    /// Returns the level and the number of references that its decoded picture buffer holds.
    func chooseLevel(
        _ limits: EncodeCapabilities, grid: BlockGrid, structure: GOPStructure, rate settled: RateSettings,
        estimate: LevelEstimate?
    ) throws -> (level: StreamLevel, room: Int) {
        let rate = asked.frameRate
        let bitrate = settled.maxBitrate > 0 ? settled.maxBitrate : nil
        let all = StreamLevel.all(limits.profile, asked.tier)
        let highest = StreamLevel.highest(limits.profile, asked.tier)
        // A requested buffer needs a level that allows it.
        let buffer = settled.hasFixedBuffer ? min(settled.vbvSize, highest.maxCPBSize) : 0
        func lowest(_ bitrate: Int?) -> StreamLevel? {
            all.first { $0.allows(grid, frameRate: rate, references: 1, bitrate: bitrate) }
        }
        guard let floor = lowest(bitrate) else {
            if let bitrate, lowest(nil) != nil {
                throw VaencError(
                    .unavailable, "\(BitsPerSecond(bitrate)) exceeds \(highest.described)",
                    remedy: asked.tier == .main ? "lower the bit rate, or leave out the tier" : "lower the bit rate")
            }
            throw VaencError(
                .unavailable, "\(asked.size) at \(asked.frameRate.words) frames per second exceeds \(highest.described)",
                remedy:
                    "use smaller pictures (`SourceOptions.outputSize` scales those of a source), or lower `frameRate`")
        }
        // If the pictures do not fit a requested level, the level is raised. If only the references do not fit, they
        // are reduced.
        let wanted = try askedLevels(limits.profile)
        if !wanted.isEmpty {
            let fitting = wanted.filter { $0.allows(grid, frameRate: rate, references: 1, bitrate: bitrate) }
            let level = fitting.first { buffer <= $0.maxCPBSize } ?? fitting.last ?? floor
            return (level, max(level.storage(grid), 1))
        }
        let room = max(highest.storage(grid), 1)
        let references = min(structure.storage, room)
        let fitting = all.filter {
            $0.allows(grid, frameRate: rate, references: references, bitrate: bitrate) && buffer <= $0.maxCPBSize
        }
        let kept = estimate.flatMap { estimate in fitting.first(where: estimate.fits) ?? fitting.last }
        return (kept ?? fitting.first ?? floor, room)
    }

    /// Returns the levels with the requested number; empty if no level was requested.
    private func askedLevels(_ profile: CodecProfile) throws -> [StreamLevel] {
        guard let level = asked.level else { return [] }
        let levels = StreamLevel.named(level, profile: profile, tier: asked.tier)
        guard !levels.isEmpty else {
            var names: [String] = []
            for name in StreamLevel.all(profile).map(\.numberName) where !names.contains(name) { names.append(name) }
            throw VaencError(
                .usage, "\(profile.codec.standardName) has no level \(level)",
                remedy: "the levels are \(names.joined(separator: " "))")
        }
        return levels
    }

    /// Reports the level and the tier.
    ///
    /// - Parameter foreseen: The estimated rate at the QP if no rate was requested.
    mutating func reportLevel(
        _ used: StreamLevel, limits: EncodeCapabilities, rate: RateSettings, estimate foreseen: LevelEstimate?
    ) throws {
        let most = BitsPerSecond(rate.maxBitrate)
        let need = rate.maxBitrate > 0 ? " and \(most)\(asked.tier.map { " in the \($0.name) tier" } ?? "")" : ""
        let reason: SettingReason =
            if let level = asked.level {
                used.number == level.tenths ? .requested : "needed by \(asked.size) at \(asked.frameRate)\(need)"
            } else if let foreseen {
                "lowest for the size, the references and the estimated \(BitsPerSecond(foreseen.bitrate)) at this QP"
            } else if rate.hasFixedBuffer {
                "lowest for the size, rate, buffer and references"
            } else {
                "lowest for the size, rate and references"
            }
        report.add("level", asked: try askedLevels(limits.profile).first?.numberName, used: used.numberName, why: reason)
        guard let tier = used.tier else { return }
        let main = used.inMainTier
        let cause =
            if rate.maxBitrate > main.maxBitrate {
                "\(most)"
            } else if rate.vbvSize > main.maxCPBSize {
                "a buffer of \(rate.vbvSize) bits"
            } else if let foreseen {
                "the estimated \(BitsPerSecond(foreseen.bitrate)) at this QP"
            } else {
                "the stream"
            }
        let tierReason: SettingReason =
            if asked.tier != nil {
                .requested
            } else if tier == .main {
                .standard
            } else {
                "\(cause) exceeds level \(used.numberName)'s Main tier"
            }
        report.add("tier", asked: asked.tier?.name, used: tier.name, why: tierReason)
    }
}
