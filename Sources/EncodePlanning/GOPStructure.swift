/// How a stream is built from pictures: what the planner follows.
public struct GOPStructure: Sendable, Hashable {
    /// Frames from a key frame to the next; nil: only the first frame and forced ones are key frames.
    public var keyInterval: Int?
    /// Pictures that a P picture may predict from, at least 1. It is also what the decoded picture buffer holds.
    public var references: Int
    /// Every so many intra pictures is an IDR picture.
    public var idrInterval = 1
    /// B pictures before an I picture may predict from pictures before it.
    public var isOpen = false
    /// B pictures between two others, 0…7.
    public var bFrames = 0
    /// B pictures predict from B pictures.
    public var isPyramid = false
    /// Pictures of list 1 that a B picture may predict from.
    public var references1 = 1
    /// Layers of a temporal hierarchy, 1…4.
    public var temporalLayers = 1
    /// Long-term references kept, 0…`references`.
    public var longTermReferences = 0
    /// Steps of a rolling intra refresh, which then takes the place of key frames after the first; nil: none.
    public var intraRefreshSteps: Int?

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
