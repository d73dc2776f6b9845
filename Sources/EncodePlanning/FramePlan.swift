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

    public init(codingIndex: Int, displayIndex: Int, slot: Int) {
        self.codingIndex = codingIndex
        self.displayIndex = displayIndex
        self.slot = slot
    }
}
