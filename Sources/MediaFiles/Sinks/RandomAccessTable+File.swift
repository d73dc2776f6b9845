extension RandomAccessTable {
    /// Adds the boxes that libavformat does not write to the movie box, which must be at the end of the file.
    func insert(into file: OutputFile, isQuickTime: Bool) throws {
        guard exceedsKeyFrames else { return }
        try MovieBox.edit(file) { inserted(into: $0, isQuickTime: isQuickTime) }
    }
}
