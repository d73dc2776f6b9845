public import VideoBase

/// The decisions for the next picture to code, in indices that only grow. Each codec derives its wrapped numbers from
/// them.
///
/// The coding index identifies a picture.
public struct FramePlan: Sendable, Hashable {
    /// The picture type.
    public var type: PictureType
    /// The index in coding order, from 0.
    public var codingIndex: Int
    /// The index in display order, from 0.
    public var displayIndex: Int
    /// The index of the coded video sequence: the number of key frames (IDR) before this sequence's key frame.
    public var sequenceIndex: Int
    /// The display index of the key frame that began the coded video sequence.
    public var keyDisplayIndex: Int
    /// The coding indices of the pictures to predict from, the most useful first.
    public var list0: [Int]
    /// The coding indices of a B picture's second list.
    public var list1: [Int] = []
    /// Whether later pictures may predict from this one.
    public var isReference: Bool
    /// The contents of the decoded picture buffer while this picture is coded, oldest first.
    public var stored: [StoredPicture]
    /// The coding indices of stored pictures that stop being references once this picture is coded, in addition to the
    /// one that the sliding window drops.
    public var released: [Int] = []
    /// The index of the slot that receives the reconstruction: 0 ..< slotCount.
    public var slot: Int
    /// The temporal layer; 0 is the lowest.
    public var temporalLayer = 0
    /// The depth in a pyramid of B pictures. It is 0 for key, I and P pictures, and for B pictures if no B picture
    /// serves as a reference.
    public var depth = 0
    /// The LongTermFrameIdx under which this picture is kept as a long-term reference; nil: it is a short-term
    /// reference or none.
    public var longTermIndex: Int?
    /// The token that the receiver returns to acknowledge this picture. An acknowledged picture may serve
    /// `refreshFromLongTerm`.
    public var acknowledgementToken: Int?
    /// The frame count of the recovery point: 0 at an I picture of an open GOP, the length of the pass at the start of
    /// an intra refresh, nil otherwise.
    public var recoveryFrameCount: Int?
    /// The part of the picture that a rolling refresh codes as intra.
    public var intraRefresh: IntraRefreshStep?

    /// Creates a plan. All other properties keep their defaults.
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

/// A reconstructed picture that later pictures may predict from.
public struct StoredPicture: Sendable, Hashable {
    /// The index in coding order.
    public var codingIndex: Int
    /// The index in display order.
    public var displayIndex: Int
    /// The index of the slot that holds the reconstruction.
    public var slot: Int
    /// LongTermFrameIdx; nil: a short-term reference.
    public var longTermIndex: Int?

    /// Creates a short-term reference.
    public init(codingIndex: Int, displayIndex: Int, slot: Int) {
        self.codingIndex = codingIndex
        self.displayIndex = displayIndex
        self.slot = slot
    }
}

/// One step of a rolling intra refresh through the picture.
public struct IntraRefreshStep: Sendable, Hashable {
    /// The index of the step, from 0.
    public var index: Int
    /// The number of steps in a pass.
    public var count: Int

    /// Creates a step.
    public init(index: Int, count: Int) {
        self.index = index
        self.count = count
    }
}
