import BitstreamInspection
import VideoBase

/// The NAL units of a picture that were received so far, including those before its first slice.
struct GatheredPicture {
    /// All units in Annex B form, as decoders require.
    var bytes: [UInt8] = []
    /// The units that are not slices: parameter sets and messages.
    private(set) var otherBytes: [UInt8] = []
    private(set) var hasSlices = false
    /// Whether a NAL unit could not be used.
    var isBroken = false
    /// The timing of the first slice.
    private(set) var timing = FrameTiming(presentation: .zero)

    mutating func add(_ unit: [UInt8], role: FollowedUnit, timing: FrameTiming) {
        let isSlice = if case .slice = role { true } else { false }
        if isSlice, !hasSlices {
            hasSlices = true
            self.timing = timing
            otherBytes = bytes
        }
        bytes += [0, 0, 0, 1]
        bytes += unit
        if hasSlices, !isSlice {
            otherBytes += [0, 0, 0, 1]
            otherBytes += unit
        }
    }
}

/// The pictures that were sent to a decoder and not returned yet, by their index among the pictures taken.
struct WaitingPictures {
    struct Entry {
        var index: Int
        var timing: FrameTiming
        var isKey: Bool
        var followsDamage: Bool
    }

    /// The entries in the order in which they were sent.
    private var entries: [Entry] = []
    /// The indices of key pictures, sent or returned, that earlier pictures may still precede in the output.
    private var keys: [Int] = []
    /// The maximum number of pictures that a decoder may hold: 16 in its buffer, and one for each thread.
    private static let heldLimit = 128

    mutating func add(_ index: Int, _ timing: FrameTiming, isKey: Bool, followsDamage: Bool) {
        entries.append(Entry(index: index, timing: timing, isKey: isKey, followsDamage: followsDamage))
        if isKey { keys.append(index) }
    }

    /// Adds a picture again that was already returned, at its position in sending order.
    mutating func putBack(_ frame: DecodedFrame) {
        let position = entries.firstIndex { $0.index > frame.index } ?? entries.count
        let entry = Entry(
            index: frame.index, timing: frame.timing, isKey: frame.isKey, followsDamage: frame.followsDamage)
        entries.insert(entry, at: position)
    }

    func contains(_ index: Int) -> Bool { entries.contains { $0.index == index } }

    mutating func take(_ index: Int) -> Entry? {
        guard let position = entries.firstIndex(where: { $0.index == index }) else { return nil }
        return entries.remove(at: position)
    }

    /// The lowest index of the pictures that have not been returned.
    var oldest: Int? { entries.map(\.index).min() }

    /// Marks pictures that may refer to a damaged one: those after it, up to the next key picture.
    ///
    /// - Returns: The index of the key picture that ends the damage; `.max` if it has not been sent yet.
    mutating func markFollowers(after index: Int) -> Int {
        let end = keys.first { $0 > index } ?? .max
        for position in entries.indices where entries[position].index > index && entries[position].index < end {
            entries[position].followsDamage = true
        }
        return end
    }

    /// Removes the pictures before the last key picture that is not after `index`. They are returned before it, or
    /// never.
    mutating func takeBefore(keyOf index: Int) -> [Entry] {
        guard let key = keys.last(where: { $0 <= index }) else { return [] }
        keys.removeAll { $0 < key }
        return remove { $0.index < key }
    }

    /// Removes the pictures that no decoder can hold any more when picture `index` is sent.
    mutating func takeOlder(than index: Int) -> [Entry] { remove { $0.index < index - Self.heldLimit } }

    mutating func takeAll() -> [Entry] {
        keys = []
        return remove { _ in true }
    }

    private mutating func remove(_ condition: (Entry) -> Bool) -> [Entry] {
        let removed = entries.filter(condition)
        if !removed.isEmpty { entries.removeAll(where: condition) }
        return removed
    }
}
