/// The requests of one frame to the planner.
public struct FrameRequest: Sendable, Hashable {
    /// Whether the frame becomes an IDR picture.
    public var forceKey: Bool
    /// Whether the frame predicts only from long-term references that the receiver acknowledged. If there is none, it
    /// becomes a key frame.
    public var refreshFromLongTerm: Bool
    /// Whether this frame, or the next one that can, becomes a long-term reference.
    public var makeLongTerm: Bool
    /// The `FramePlan.acknowledgementToken` values of pictures that the receiver has.
    public var acknowledgedTokens: [Int]

    /// Creates a request. The defaults request nothing.
    public init(
        forceKey: Bool = false, refreshFromLongTerm: Bool = false, makeLongTerm: Bool = false,
        acknowledgedTokens: [Int] = []
    ) {
        self.forceKey = forceKey
        self.refreshFromLongTerm = refreshFromLongTerm
        self.makeLongTerm = makeLongTerm
        self.acknowledgedTokens = acknowledgedTokens
    }
}
