/// What one frame asks of the planner.
public struct FrameRequest: Sendable, Hashable {
    /// The frame becomes an IDR picture.
    public var forceKey: Bool
    /// Predict only from long-term references that the receiver acknowledged; a key frame where there is none.
    public var refreshFromLongTerm: Bool
    /// The frame, or the next that can, becomes a long-term reference.
    public var makeLongTerm: Bool
    /// `FramePlan.acknowledgementToken`s of pictures that the receiver has.
    public var acknowledgedTokens: [Int]

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
