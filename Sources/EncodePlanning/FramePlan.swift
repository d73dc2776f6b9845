package import VideoBase

/// The decisions for the next picture to code, in indices that only grow. Each codec derives its wrapped numbers from
/// them.
///
/// The coding index identifies a picture.
package struct FramePlan: Sendable, Hashable {
    /// The picture type.
    package var type: PictureType
    /// The index in coding order, from 0.
    package var codingIndex: Int
    /// The index in display order, from 0.
    package var displayIndex: Int
    /// The index of the coded video sequence: the number of key frames (IDR) before this sequence's key frame.
    package var sequenceIndex: Int
    /// The display index of the key frame that began the coded video sequence.
    package var keyDisplayIndex: Int
    /// The coding indices of the pictures to predict from, the most useful first.
    package var list0: [Int]
    /// The coding indices of a B picture's second list.
    package var list1: [Int] = []
    /// Whether later pictures may predict from this one.
    package var isReference: Bool
    /// The contents of the decoded picture buffer while this picture is coded, oldest first.
    package var stored: [StoredPicture]
    /// The coding indices of stored pictures that stop being references once this picture is coded, in addition to the
    /// one that the sliding window drops.
    package var released: [Int] = []
    /// The index of the slot that receives the reconstruction: 0 ..< slotCount.
    package var slot: Int
    /// The temporal layer; 0 is the lowest.
    package var temporalLayer = 0
    /// The depth in a pyramid of B pictures. It is 0 for key, I and P pictures, and for B pictures if no B picture
    /// serves as a reference.
    package var depth = 0
    /// The LongTermFrameIdx under which this picture is kept as a long-term reference; nil: it is a short-term
    /// reference or none.
    package var longTermIndex: Int?
    /// The token that the receiver returns to acknowledge this picture. An acknowledged picture may serve
    /// `refreshFromLongTerm`.
    package var acknowledgementToken: Int?
    /// The frame count of the recovery point: 0 at an I picture of an open GOP, the length of the pass at the start of
    /// an intra refresh, nil otherwise.
    package var recoveryFrameCount: Int?
    /// The part of the picture that a rolling refresh codes as intra.
    package var intraRefresh: IntraRefreshStep?

    /// Creates a plan. All other properties keep their defaults.
    package init(
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
package struct StoredPicture: Sendable, Hashable {
    /// The index in coding order.
    package var codingIndex: Int
    /// The index in display order.
    package var displayIndex: Int
    /// The index of the slot that holds the reconstruction.
    package var slot: Int
    /// LongTermFrameIdx; nil: a short-term reference.
    package var longTermIndex: Int?

    /// Creates a short-term reference.
    package init(codingIndex: Int, displayIndex: Int, slot: Int) {
        self.codingIndex = codingIndex
        self.displayIndex = displayIndex
        self.slot = slot
    }
}

/// One step of a rolling intra refresh through the picture.
package struct IntraRefreshStep: Sendable, Hashable {
    /// The index of the step, from 0.
    package var index: Int
    /// The number of steps in a pass.
    package var count: Int

    /// Creates a step.
    package init(index: Int, count: Int) {
        self.index = index
        self.count = count
    }
}
