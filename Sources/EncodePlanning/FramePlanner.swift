import VideoBase

/// Decides what each frame becomes: key or predicted, from which pictures, in which order, kept or not.
///
/// Frames go in in display order; plans come out in coding order, as soon as they are settled. A value without clocks
/// or devices: the same frames give the same plans.
public struct FramePlanner: Sendable {
    public let structure: GOPStructure
    private var buffer: ReferenceBuffer
    private var nextDisplayIndex = 0
    private var nextCodingIndex = 0
    private var sequenceIndex = -1
    private var keyDisplayIndex = 0

    public init(structure: GOPStructure) {
        self.structure = structure
        buffer = ReferenceBuffer(capacity: structure.references)
    }

    /// Takes the next frame in display order and gives the plans that it settles.
    public mutating func add(forceKey: Bool = false) -> [FramePlan] {
        let displayIndex = nextDisplayIndex
        nextDisplayIndex += 1
        let age = displayIndex - keyDisplayIndex
        let isKey = sequenceIndex < 0 || forceKey || structure.keyInterval.map { age >= $0 } ?? false
        return [isKey ? planKey(displayIndex) : planPredicted(displayIndex)]
    }

    /// The plans of the frames that still wait for later ones. Nothing can be added afterwards but a key frame.
    public mutating func finish() -> [FramePlan] { [] }

    private mutating func planKey(_ displayIndex: Int) -> FramePlan {
        buffer.removeAll()
        sequenceIndex += 1
        keyDisplayIndex = displayIndex
        return code(.idr, displayIndex, list0: [])
    }

    /// A P picture predicts from everything stored, the latest first, which is also the order that costs no bits.
    private mutating func planPredicted(_ displayIndex: Int) -> FramePlan {
        code(.p, displayIndex, list0: buffer.pictures.reversed().map(\.codingIndex))
    }

    private mutating func code(_ type: PictureType, _ displayIndex: Int, list0: [Int]) -> FramePlan {
        let plan = FramePlan(
            type: type, codingIndex: nextCodingIndex, displayIndex: displayIndex, sequenceIndex: sequenceIndex,
            keyDisplayIndex: keyDisplayIndex, list0: list0, isReference: true, stored: buffer.pictures,
            slot: buffer.freeSlot)
        nextCodingIndex += 1
        buffer.store(
            StoredPicture(codingIndex: plan.codingIndex, displayIndex: displayIndex, slot: plan.slot))
        return plan
    }
}
