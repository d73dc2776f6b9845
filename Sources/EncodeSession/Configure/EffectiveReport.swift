import VideoBase

/// Collects the requested and the used value of each option, and the reason.
struct EffectiveReport: Sendable {
    private(set) var entries: [EffectiveEntry] = []

    mutating func add(_ option: String, asked: String?, used: String, why: SettingReason) {
        entries.append(EffectiveEntry(option: option, asked: asked, used: used, why: why))
    }

    mutating func add(_ option: String, asked: Int?, used: Int, why: SettingReason) {
        add(option, asked: asked.map(String.init), used: String(used), why: why)
    }

    /// Changes the entry of an option. Does nothing if there is none.
    mutating func replace(_ option: String, used: String, why: SettingReason) {
        guard let index = entries.firstIndex(where: { $0.option == option }) else { return }
        entries[index].used = used
        entries[index].why = why
    }

    mutating func add(_ entry: EffectiveEntry) { entries.append(entry) }
}
