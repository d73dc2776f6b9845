import VideoBase

/// The first change of each kind in the pictures of an input.
struct PictureChanges {
    private(set) var entries: [EffectiveEntry] = []

    private mutating func add(_ entry: EffectiveEntry) {
        if !entries.contains(where: { $0.option == entry.option }) { entries.append(entry) }
    }

    /// Adds a change of the stream.
    ///
    /// - Parameter number: The number of pictures before it.
    mutating func add(_ option: String, asked: String, used: String, why: String, at number: Int) {
        add(EffectiveEntry(option: option, asked: asked, used: used, why: "\(why) at picture \(number)"))
    }

    /// Adds the report that the first picture of a cut begins late, because the picture that is shown at the requested start
    /// began before it and was dropped. Screen recordings and slide shows have such pictures.
    ///
    /// - Parameter seconds: The first picture's time after the start.
    mutating func addLateBeginning(seconds: Double) {
        add(
            EffectiveEntry(
                option: "first picture", asked: "at the start", used: "\((seconds * 1000).rounded() / 1000) s later",
                why: "the picture that is displayed at the requested start begins earlier, so the part begins with the next picture"))
    }
}
