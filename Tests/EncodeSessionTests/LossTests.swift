import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// What a receiver shows that did not get all of a stream: judged by libavcodec on a real clip, against what the driver
/// reconstructed from all of it. In both codecs: each case is written with its codec.
@Suite struct LossTests {
    private static let codecs: [VideoCodec] = [.h264, .hevc]

    /// What libavcodec shows of packets.
    private func decode(_ packets: some Sequence<EncodedPacket>, _ codec: VideoCodec) -> DecodedVideo {
        ForeignDecoder.libavcodec.decode(packets.flatMap(\.bytes), codec: codec == .h264 ? .h264 : .hevc)
    }

    /// Display indices, from `start` on, at which decoded pictures are not the driver's, where the last are the last.
    private func wrong(_ decoded: DecodedVideo, _ result: ClipSession.Result, from start: Int) -> [Int] {
        (start..<result.pictures.count).filter { index in
            let fromEnd = result.pictures.count - index
            return decoded.frames.count < fromEnd
                || decoded.frames[decoded.frames.count - fromEnd] != result.pictures[index]
        }
    }

    /// The packets without the lost frames decode to the driver's pictures from display index `start` on, and not
    /// before: the lost ones were needed.
    private func check(
        _ result: ClipSession.Result, _ codec: VideoCodec, lost: Set<Int>, from start: Int, keys: [Int] = [0]
    ) {
        #expect(result.keys == keys)
        let whole = decode(result.packets, codec)
        #expect(whole.messages == [] && whole.frames == result.pictures)
        let received = result.packets.filter { !lost.contains($0.displayIndex) }
        let decoded = decode(received, codec)
        #expect(wrong(decoded, result, from: start) == [], "lost \(lost.sorted())")
        #expect(wrong(decoded, result, from: start - 1) != [], "nothing needed \(lost.sorted())")
    }

    /// Every frame of a stretch is lost in turn, with the report coming after as many frames as the round trip takes.
    @Test(arguments: codecs, [(0, 2), (0, 5), (1, 2), (1, 5), (2, 2), (2, 5), (3, 2), (3, 5)])
    func invalidation(codec: VideoCodec, _ structure: (bFrames: Int, delay: Int)) throws {
        let (bFrames, delay) = structure
        let period = bFrames + 1
        for lost in [2 * period, 3 * period] {
            let report = lost + delay
            let result = try ClipSession.run({
                $0.codec = codec
                $0.references = 5 + delay / period
                $0.bFrames = bFrames
                $0.bPyramid = false
            }) { session in
                for index in 0..<report + 9 {
                    if index == report { try session.encoder.invalidateReferences(displayIndices: [lost]) }
                    try session.encode(index)
                }
            }
            #expect(result.keys == [0])
            let received = result.packets.filter { $0.displayIndex != lost }
            let whole = decode(result.packets, codec)
            let decoded = decode(received, codec)
            #expect(whole.messages == [] && whole.frames == result.pictures)
            #expect(wrong(decoded, result, from: report) == [], "lost \(lost)")
            // What was coded before the report, from the frame, is wrong: it was needed.
            if period < delay { #expect(wrong(decoded, result, from: lost + 1).first == lost + 1) }
            // A P frame took the place of a key frame.
            let answer = result.packets.first { $0.displayIndex >= report && $0.type != .b }
            #expect(answer?.type == .p)
        }
    }

    /// Two losses, reported together and apart, in one stream.
    @Test(arguments: codecs) func invalidationAgain(codec: VideoCodec) throws {
        let result = try ClipSession.run({
            $0.codec = codec
            $0.references = 6
            $0.lowLatency = true
        }) { session in
            for index in 0..<40 {
                if index == 13 { try session.encoder.invalidateReferences(displayIndices: [10, 11]) }
                if index == 25 { try session.encoder.invalidateReferences(displayIndices: [23]) }
                try session.encode(index)
            }
        }
        check(result, codec, lost: [10, 11, 23], from: 25)
    }

    /// With one reference there is nothing else to predict from: a key frame.
    @Test(arguments: codecs) func nothingIsLeft(codec: VideoCodec) throws {
        let result = try ClipSession.run({
            $0.codec = codec
            $0.references = 1
            $0.lowLatency = true
        }) { session in
            for index in 0..<20 {
                if index == 9 { try session.encoder.invalidateReferences(displayIndices: [7]) }
                try session.encode(index)
            }
        }
        check(result, codec, lost: [7], from: 9, keys: [0, 9])
    }

    /// The receiver acknowledges long-term references as they come, then a burst is lost, and the sender refreshes.
    @Test(arguments: codecs, [(1, 0), (1, 2), (2, 0), (2, 2), (4, 0), (4, 2)])
    func longTermRefresh(codec: VideoCodec, _ structure: (count: Int, bFrames: Int)) throws {
        let (count, bFrames) = structure
        var tokens: [Int] = []
        let result = try ClipSession.run({
            $0.codec = codec
            $0.longTermReferences = count
            $0.references = max(count, 2)
            $0.bFrames = bFrames
        }) { session in
            for index in 0..<36 {
                var options = FrameOptions()
                // Three frames on the way there and back.
                if index < 24 {
                    options.acknowledgedTokens = session.received.packets.filter { $0.displayIndex <= index - 3 }
                        .compactMap(\.acknowledgementToken).filter { !tokens.contains($0) }
                    tokens += options.acknowledgedTokens
                }
                options.refreshFromLongTerm = index == 24
                try session.encode(index, options)
            }
        }
        #expect(!tokens.isEmpty && result.packets.frame(24)?.type == .p)
        check(result, codec, lost: [21, 22, 23], from: 24)
    }

    /// Nothing acknowledged, or what was never sent: the refresh is a key frame.
    @Test(arguments: codecs, [[], [77]]) func refreshWithoutAcknowledgement(codec: VideoCodec, tokens: [Int]) throws {
        let result = try ClipSession.run({
            $0.codec = codec
            $0.longTermReferences = 2
            $0.references = 2
        }) { session in
            for index in 0..<16 {
                var options = FrameOptions(forceKeyFrame: false)
                if index == 6 { options.acknowledgedTokens = tokens }
                options.refreshFromLongTerm = index == 12
                try session.encode(index, options)
            }
        }
        check(result, codec, lost: [8, 9], from: 12, keys: [0, 12])
    }

    /// Layers of a temporal hierarchy, with B frames where there are two: what is left is right without the upper ones.
    @Test(arguments: codecs, [(2, 0), (2, 1), (2, 3), (3, 0), (4, 0)])
    func upperLayersMayGo(codec: VideoCodec, _ structure: (layers: Int, bFrames: Int)) throws {
        let (layers, bFrames) = structure
        let result = try ClipSession.run(frames: 25) {
            $0.codec = codec
            $0.temporalLayers = layers
            $0.bFrames = bFrames
            $0.gopFrames = 17
        }
        #expect(Set(result.packets.map(\.temporalLayer)) == Set(0..<layers))
        for kept in 0..<layers {
            let some = result.packets.filter { $0.temporalLayer <= kept }
            let decoded = decode(some, codec)
            #expect(decoded.messages == [] && decoded.frames == result.pictures(of: some))
        }
        for packet in result.packets {
            let units = packet.bytes.indices.dropLast(8).filter {
                Array(packet.bytes[$0..<$0 + 4]) == [0, 0, 0, 1]
            }.map { Array(packet.bytes[$0 + 4..<$0 + 8]) }
            // The layer stands before each slice too: temporal_id of a prefix NAL unit, the top bits of its header's
            // third further byte; in HEVC in the slice's own, nuh_temporal_id_plus1.
            let named =
                codec == .h264
                ? units.filter { $0[0] & 31 == 14 }.map { Int($0[3] >> 5) }
                : units.filter { $0[0] >> 1 < 32 }.map { Int($0[1] & 7) - 1 }
            #expect(named == [packet.temporalLayer])
        }
    }

    /// Whoever comes in at a recovery point shows right pictures from the end of that pass on. With another clip's
    /// pictures to predict from, it is the same.
    @Test(arguments: codecs, [6, 11]) func joiningAnIntraRefresh(codec: VideoCodec, period: Int) throws {
        func change(_ configuration: inout EncoderConfiguration) {
            configuration.codec = codec
            configuration.intraRefresh = true
            configuration.gopFrames = period
        }
        let result = try ClipSession.run(frames: 36, change)
        let other = try ClipSession.run(frames: 36, from: 24, change)
        #expect(result.keys == [0])
        let entries = result.packets.filter { $0.displayIndex > 1 && $0.recoveryFrameCount != nil }
        #expect(entries.map(\.displayIndex) == Array(stride(from: 1 + period, to: 36, by: period)))
        for entry in entries where entry.displayIndex + period < 36 {
            // A pass takes a picture for each column of macroblocks or coding tree blocks, the period at most.
            let count = try #require(entry.recoveryFrameCount)
            #expect(codec == .h264 ? count == period : (3...period).contains(count))
            let right = Array(result.pictures[(entry.displayIndex + count)...])
            let late = Array(result.packets[entry.codingIndex...])
            let joined = decode(late, codec)
            // H.264's decoder keeps back what is not recovered; HEVC's shows all, with something made up.
            if codec == .h264 { #expect(joined.frames == right) }
            #expect(Array(joined.frames.suffix(right.count)) == right)
            let mixed = decode(other.packets[..<entry.codingIndex] + late, codec)
            #expect(mixed.frames.count == 36 && Array(mixed.frames.suffix(right.count)) == right)
            #expect(mixed.frames[entry.displayIndex] != result.pictures[entry.displayIndex])
        }
    }

    /// Open groups: whoever comes in at any I picture shows it, and everything that is shown after it, right.
    @Test(arguments: codecs, [1, 2, 3, 7]) func joiningAnOpenGroup(codec: VideoCodec, bFrames: Int) throws {
        let result = try ClipSession.run(frames: 52) {
            $0.codec = codec
            $0.openGOP = true
            $0.bFrames = bFrames
            $0.gopFrames = 12
            $0.references = 3
        }
        #expect(result.keys == [0])
        let entries = result.packets.filter { $0.type == .i }
        #expect(entries.map(\.displayIndex) == [12, 24, 36, 48])
        var leading = 0
        // At a stream's end libavcodec does not show what it read of H.264 before it showed the recovery point, so that
        // one needs some pictures after it.
        for entry in entries.dropLast() {
            let late = Array(result.packets[entry.codingIndex...])
            leading += late.count { $0.displayIndex < entry.displayIndex }
            let decoded = decode(late, codec)
            #expect(wrong(decoded, result, from: entry.displayIndex) == [], "from \(entry.displayIndex)")
            // Without those that lead it, there is nothing to complain of.
            let trimmed = late.filter { $0.displayIndex >= entry.displayIndex }
            let clean = decode(trimmed, codec)
            #expect(clean.messages == [] && clean.frames.count == result.pictures.count - entry.displayIndex)
            #expect(wrong(clean, result, from: entry.displayIndex) == [], "from \(entry.displayIndex)")
        }
        #expect(leading > 0)
    }
}
