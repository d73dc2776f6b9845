public import VideoBase

/// What is to be coded next, in numbers that only grow; the codec's wrapped ones come from these.
///
/// A picture's name is its coding index.
public struct FramePlan: Sendable, Hashable {
    public var type: PictureType
    /// Position in coding order, from 0.
    public var codingIndex: Int
    /// Position in display order, from 0.
    public var displayIndex: Int
    /// Key frames (IDR) before this picture's; counts the coded video sequences.
    public var sequenceIndex: Int
    /// Display index of the key frame that began the coded video sequence.
    public var keyDisplayIndex: Int
    /// Pictures to predict from, the most useful first: coding indices.
    public var list0: [Int]
    /// The same of a B picture's second list.
    public var list1: [Int] = []
    /// Later pictures may predict from this one.
    public var isReference: Bool
    /// What the decoded picture buffer holds while this picture is coded, oldest first.
    public var stored: [StoredPicture]
    /// Stored pictures that stop being references once this picture is coded, beyond what the sliding window drops.
    public var released: [Int] = []
    /// Where the reconstruction goes: 0 ..< slotCount.
    public var slot: Int
    public var temporalLayer = 0
    /// Depth in a pyramid of B pictures: 0 for key, I and P pictures and for B pictures that none predict from B in.
    public var depth = 0
    /// The LongTermFrameIdx under which this picture is kept as a long-term reference.
    public var longTermIndex: Int?
    /// Stored pictures that become long-term references once this picture is coded.
    public var madeLongTerm: [LongTermAssignment] = []
    /// To be handed back by whoever receives the picture; then it may serve `refreshFromLongTerm`.
    public var acknowledgementToken: Int?
    /// For recovery_point: 0 at an I picture of an open GOP, the pass's length where an intra refresh begins.
    public var recoveryFrameCount: Int?
    /// The stretch of the picture that is intra-coded by a rolling refresh.
    public var intraRefresh: IntraRefreshStep?

    public init(
        type: PictureType, codingIndex: Int, displayIndex: Int, sequenceIndex: Int, keyDisplayIndex: Int,
        list0: [Int], isReference: Bool, stored: [StoredPicture], slot: Int
    ) {
        self.type = type
        self.codingIndex = codingIndex
        self.displayIndex = displayIndex
        self.sequenceIndex = sequenceIndex
        self.keyDisplayIndex = keyDisplayIndex
        self.list0 = list0
        self.isReference = isReference
        self.stored = stored
        self.slot = slot
    }
}

/// A reconstruction that later pictures may predict from.
public struct StoredPicture: Sendable, Hashable {
    public var codingIndex: Int
    public var displayIndex: Int
    public var slot: Int
    /// LongTermFrameIdx; nil: a short-term reference.
    public var longTermIndex: Int?

    public init(codingIndex: Int, displayIndex: Int, slot: Int) {
        self.codingIndex = codingIndex
        self.displayIndex = displayIndex
        self.slot = slot
    }
}

/// A stored picture and the LongTermFrameIdx that it gets.
public struct LongTermAssignment: Sendable, Hashable {
    public var codingIndex: Int
    public var longTermIndex: Int

    public init(codingIndex: Int, longTermIndex: Int) {
        self.codingIndex = codingIndex
        self.longTermIndex = longTermIndex
    }
}

/// Step `index` of the `count` in which a refresh passes through the picture, from 0.
public struct IntraRefreshStep: Sendable, Hashable {
    public var index: Int
    public var count: Int

    public init(index: Int, count: Int) {
        self.index = index
        self.count = count
    }
}
