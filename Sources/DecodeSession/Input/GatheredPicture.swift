import BitstreamInspection
import VideoBase

/// The NAL units of a picture so far, and of what stands before its first slice.
struct GatheredPicture {
    /// In Annex B form, as decoders take it.
    var bytes: [UInt8] = []
    /// The same without slices: parameter sets and messages.
    private(set) var otherBytes: [UInt8] = []
    private(set) var hasSlices = false
    /// A NAL unit could not be used.
    var isBroken = false
    /// Of the first slice.
    private(set) var timing = FrameTiming(presentation: .zero)

    mutating func add(_ unit: [UInt8], _ role: FollowedUnit, _ timing: FrameTiming) {
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

/// Pictures that a decoder has, by their position among those taken.
struct WaitingPictures {
    struct Entry {
        var index: Int
        var timing: FrameTiming
        var isKey: Bool
        var followsDamage: Bool
    }

    /// In the order in which they were sent.
    private var entries: [Entry] = []
    /// Key pictures, sent or given, that pictures before them may still wait for.
    private var keys: [Int] = []
    /// Pictures that a decoder may hold: its buffer's sixteen, and one for each thread.
    private static let most = 128

    mutating func add(_ index: Int, _ timing: FrameTiming, isKey: Bool, followsDamage: Bool) {
        entries.append(Entry(index: index, timing: timing, isKey: isKey, followsDamage: followsDamage))
        if isKey { keys.append(index) }
    }

    /// Takes in again what came out already; the order is that in which pictures were sent.
    mutating func putBack(_ frame: DecodedFrame) {
        let place = entries.firstIndex { $0.index > frame.index } ?? entries.count
        entries.insert(
            Entry(index: frame.index, timing: frame.timing, isKey: frame.isKey, followsDamage: frame.followsDamage), at: place)
    }

    func contains(_ index: Int) -> Bool { entries.contains { $0.index == index } }

    mutating func take(_ index: Int) -> Entry? {
        guard let place = entries.firstIndex(where: { $0.index == index }) else { return nil }
        return entries.remove(at: place)
    }

    /// The first sent of those that are still to come.
    var oldest: Int? { entries.map(\.index).min() }

    /// What was sent after a picture that is damaged may refer to it, up to the next key picture, and what leads that.
    ///
    /// - Returns: the position of the key picture that ends the damage.
    mutating func spoil(after index: Int) -> Int {
        let end = keys.first { $0 > index } ?? .max
        for place in entries.indices where entries[place].index > index && entries[place].index < end {
            entries[place].followsDamage = true
        }
        return end
    }

    /// Those sent before the last key picture that is not after `index`: they come out before it, or never.
    mutating func takeBefore(keyOf index: Int) -> [Entry] {
        guard let key = keys.last(where: { $0 <= index }) else { return [] }
        keys.removeAll { $0 < key }
        return remove { $0.index < key }
    }

    /// Those that no decoder holds any more when `index` was sent.
    mutating func takeOlder(than index: Int) -> [Entry] { remove { $0.index < index - Self.most } }

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
