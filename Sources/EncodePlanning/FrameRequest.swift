/// The requests of one frame to the planner.
package struct FrameRequest: Sendable, Hashable {
    /// Whether the frame becomes an IDR picture.
    package var forceKey: Bool
    /// Whether the frame predicts only from long-term references that the receiver acknowledged. If there is none, it
    /// becomes a key frame.
    package var refreshFromLongTerm: Bool
    /// Whether this frame, or the next one that can, becomes a long-term reference.
    package var makeLongTerm: Bool
    /// The `FramePlan.acknowledgementToken` values of pictures that the receiver has.
    package var acknowledgedTokens: [Int]

    /// Creates a request. The defaults request nothing.
    package init(
        forceKey: Bool = false, refreshFromLongTerm: Bool = false, makeLongTerm: Bool = false,
        acknowledgedTokens: [Int] = []
    ) {
        self.forceKey = forceKey
        self.refreshFromLongTerm = refreshFromLongTerm
        self.makeLongTerm = makeLongTerm
        self.acknowledgedTokens = acknowledgedTokens
    }
}
