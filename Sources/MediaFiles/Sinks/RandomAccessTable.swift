import NALUnits
import VideoBase

/// The samples of an MP4 or MOV track at which decoding may begin, and the boxes of its sample table that list them.
///
/// Sync samples are IDR pictures and, in HEVC, CRA pictures without RASL pictures (ISO/IEC 14496-15, 8.4.3). The other
/// CRA pictures, and I pictures of H.264 with a recovery point of 0 frames, belong to the sample group `rap `
/// (14496-15, 4.10; 14496-12, 10.4). QuickTime calls them partial sync samples. libavformat writes sync samples only.
struct RandomAccessTable {
    private let codec: VideoCodec
    private var count = 0
    /// The numbers of the sync samples, from 1, in ascending order.
    private(set) var sync: [Int] = []
    /// The numbers of the other random access pictures.
    private(set) var open: [Int] = []
    /// Whether the latest random access picture is an HEVC sync sample other than an IDR picture, so far without RASL
    /// pictures.
    private var mayBeOpen = false

    /// Whether there are random access pictures other than IDR pictures.
    private(set) var exceedsKeyFrames = false

    init(codec: VideoCodec) { self.codec = codec }

    /// Adds a sample.
    /// - Parameter packet: The next packet in decoding order.
    mutating func append(_ packet: EncodedPacket) {
        count += 1
        if packet.isKey || packet.isRandomAccess {
            exceedsKeyFrames = exceedsKeyFrames || !packet.isKey
            mayBeOpen = codec.hasOpenSyncSamples && !packet.isKey
            if packet.isKey || mayBeOpen { sync.append(count) } else { open.append(count) }
        } else if mayBeOpen, Self.isSkippedLeading(packet) {
            mayBeOpen = false
            open.append(sync.removeLast())
        }
    }

    /// Whether a packet contains RASL_N or RASL_R, HEVC table 7-1.
    private static func isSkippedLeading(_ packet: EncodedPacket) -> Bool {
        packet.unitRanges.contains { (8...9).contains(packet.bytes[$0.lowerBound] >> 1 & 63) }
    }

    /// Returns the movie box with this table in its track, instead of the sync samples that it has.
    ///
    /// - Parameter isQuickTime: Whether to write partial sync samples (`stps`) instead of a sample group.
    /// - Returns: The box; nil if `movie` is not a box that libavformat writes for one track.
    func inserted(into movie: [UInt8], isQuickTime: Bool) -> [UInt8]? {
        let group = open.isEmpty ? [] : isQuickTime ? [numbers("stps", open)] : [descriptions, assignment]
        return Self.edited(movie[...], path: ["moov", "trak", "mdia", "minf", "stbl"], [numbers("stss", sync)] + group)
    }

    /// Returns a copy of `box` in which the box at `path` has the boxes `new` at its end, without its old sync samples.
    private static func edited(_ box: ArraySlice<UInt8>, path: ArraySlice<String>, _ new: [[UInt8]]) -> [UInt8]? {
        guard let children = children(of: box) else { return nil }
        var content: [UInt8] = []
        var isFound = path.count == 1
        for child in children {
            let name = child.dropFirst(4).prefix(4)
            if path.count == 1 {
                if !name.elementsEqual("stss".utf8) { content += child }
            } else if !isFound, name.elementsEqual(path[path.startIndex + 1].utf8) {
                guard let inner = edited(child, path: path.dropFirst(), new) else { return nil }
                content += inner
                isFound = true
            } else {
                content += child
            }
        }
        guard isFound, let name = path.first else { return nil }
        return Self.box(name, content + (path.count == 1 ? new.flatMap(\.self) : []))
    }

    private static func children(of box: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        var children: [ArraySlice<UInt8>] = []
        var rest = box.dropFirst(8)
        while !rest.isEmpty {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard size >= 8, size <= rest.count else { return nil }
            children.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return children
    }

    /// The single description of the group: VisualRandomAccessEntry, which does not state the number of leading
    /// samples.
    private var descriptions: [UInt8] {
        Self.box("sgpd", [1, 0, 0, 0] + Array("rap ".utf8) + Self.bytes(1) + Self.bytes(1) + [0])
    }

    /// The runs of samples outside the group (0) and inside it (1).
    private var assignment: [UInt8] {
        var runs: [(count: Int, group: Int)] = []
        var next = 1
        for number in open {
            if number > next { runs.append((number - next, 0)) }
            runs.append((1, 1))
            next = number + 1
        }
        if next <= count { runs.append((count + 1 - next, 0)) }
        let entries = runs.flatMap { Self.bytes($0.count) + Self.bytes($0.group) }
        return Self.box("sbgp", [0, 0, 0, 0] + Array("rap ".utf8) + Self.bytes(runs.count) + entries)
    }

    private func numbers(_ name: String, _ samples: [Int]) -> [UInt8] {
        Self.box(name, [0, 0, 0, 0] + Self.bytes(samples.count) + samples.flatMap(Self.bytes))
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        bytes(content.count + 8) + Array(name.utf8) + content
    }

    /// Returns the 32 bits of a value, the highest byte first.
    private static func bytes(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}
