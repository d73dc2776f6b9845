/// How a stream is built from pictures: what the planner follows.
public struct GOPStructure: Sendable, Hashable {
    /// Frames from a key frame to the next; nil: only the first frame and forced ones are key frames.
    public var keyInterval: Int?
    /// Pictures that a P picture may predict from, at least 1. It is also what the decoded picture buffer holds.
    public var references: Int

    public init(keyInterval: Int?, references: Int) {
        precondition((keyInterval ?? 1) >= 1 && references >= 1, "a GOP has a positive length and number of references")
        self.keyInterval = keyInterval
        self.references = references
    }

    /// Frames that wait for a later one before they are coded.
    public var reorderDepth: Int { 0 }
    /// Reconstructions that must be kept at once: the references and the picture being coded.
    public var slotCount: Int { references + 1 }
}
