import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// Tests what a receiver shows that does not get all of a stream. libavcodec decodes a real clip, and its pictures are
/// compared with the driver's reconstruction of the whole stream. Each case runs with both codecs.
@Suite struct EncodingAfterLossTests {
    private static let codecs: [VideoCodec] = [.h264, .hevc]
    /// The clip, reduced.
    private static let clip = Result { try Fixture.carphone.frames(60, width: 96, height: 80) }
    /// The clip with all columns of macroblocks and coding tree blocks, which intra refresh takes in turn.
    private static let wideClip = Result { try Fixture.carphone.frames(60, width: 176, height: 80) }

    /// Returns what libavcodec shows of the packets.
    private func decode(_ packets: some Sequence<EncodedPacket>, _ codec: VideoCodec) -> DecodedVideo {
        ForeignDecoder.libavcodec.decode(packets.flatMap(\.bytes), codec: codec == .h264 ? .h264 : .hevc)
    }

    /// Returns the display indices from `start` on at which the decoded pictures differ from the driver's. The last
    /// pictures of both are aligned.
    private func wrong(_ decoded: DecodedVideo, _ result: ClipSession.Result, from start: Int) -> [Int] {
        (start..<result.pictures.count).filter { index in
            let fromEnd = result.pictures.count - index
            return decoded.frames.count < fromEnd
                || decoded.frames[decoded.frames.count - fromEnd] != result.pictures[index]
        }
    }

    /// Expects that the packets without the lost frames decode to the driver's pictures from display index `start` on,
    /// and not before, because other pictures refer to the lost ones.
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

    /// Each frame of a run is lost in turn; the report arrives after the frames of one round trip.
    @Test(arguments: codecs, [(0, 2), (0, 5), (1, 2), (1, 5), (2, 2), (2, 5), (3, 2), (3, 5)])
    func picturesAreCorrectAfterInvalidation(codec: VideoCodec, _ structure: (bFrames: Int, delay: Int)) throws {
        let (bFrames, delay) = structure
        let period = bFrames + 1
        for lost in [2 * period, 3 * period] {
            let report = lost + delay
            let result = try ClipSession.run(
                of: Self.clip.get(),
                {
                    $0.codec = codec
                    $0.structure.references = 5 + delay / period
                    $0.structure.bFrames = bFrames
                    $0.structure.bPyramid = false
                }
            ) { session in
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
            // Pictures that were coded before the report and refer to the lost frame are wrong.
            if period < delay { #expect(wrong(decoded, result, from: lost + 1).first == lost + 1) }
            // A P frame was coded instead of a key frame.
            let answer = result.packets.first { $0.displayIndex >= report && $0.type != .b }
            #expect(answer?.type == .p)
        }
    }

    @Test(arguments: codecs) func repeatedLossesInOneStreamAreRepaired(codec: VideoCodec) throws {
        let result = try ClipSession.run(
            of: Self.clip.get(),
            {
                $0.codec = codec
                $0.structure.references = 6
                $0.pipeline.lowLatency = true
            }
        ) { session in
            for index in 0..<40 {
                if index == 13 { try session.encoder.invalidateReferences(displayIndices: [10, 11]) }
                if index == 25 { try session.encoder.invalidateReferences(displayIndices: [23]) }
                try session.encode(index)
            }
        }
        check(result, codec, lost: [10, 11, 23], from: 25)
    }

    /// With one reference there is no other picture to predict from, so the next picture is a key frame.
    @Test(arguments: codecs) func lossOfTheOnlyReferenceForcesAKeyFrame(codec: VideoCodec) throws {
        let result = try ClipSession.run(
            of: Self.clip.get(),
            {
                $0.codec = codec
                $0.structure.references = 1
                $0.pipeline.lowLatency = true
            }
        ) { session in
            for index in 0..<20 {
                if index == 9 { try session.encoder.invalidateReferences(displayIndices: [7]) }
                try session.encode(index)
            }
        }
        check(result, codec, lost: [7], from: 9, keys: [0, 9])
    }

    /// The receiver acknowledges long-term references as they arrive; then a burst is lost, and the sender refreshes.
    @Test(arguments: codecs, [(1, 0), (1, 2), (2, 0), (2, 2), (4, 0), (4, 2)])
    func longTermRefreshRepairsABurstLoss(codec: VideoCodec, _ structure: (count: Int, bFrames: Int)) throws {
        let (count, bFrames) = structure
        var tokens: [Int] = []
        let result = try ClipSession.run(
            of: Self.clip.get(),
            {
                $0.codec = codec
                $0.structure.longTermReferences = count
                $0.structure.references = max(count, 2)
                $0.structure.bFrames = bFrames
            }
        ) { session in
            for index in 0..<36 {
                var options = FrameOptions()
                // The round trip takes three frames.
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

    /// Without an acknowledgement, or with one of an unknown token, the refresh is a key frame.
    @Test(arguments: codecs, [[], [77]]) func refreshWithoutAcknowledgementIsAKeyFrame(codec: VideoCodec, tokens: [Int]) throws {
        let result = try ClipSession.run(
            of: Self.clip.get(),
            {
                $0.codec = codec
                $0.structure.longTermReferences = 2
                $0.structure.references = 2
            }
        ) { session in
            for index in 0..<16 {
                var options = FrameOptions(forceKeyFrame: false)
                if index == 6 { options.acknowledgedTokens = tokens }
                options.refreshFromLongTerm = index == 12
                try session.encode(index, options)
            }
        }
        check(result, codec, lost: [8, 9], from: 12, keys: [0, 12])
    }

    /// With two layers, there are B frames as well.
    @Test(arguments: codecs, [(2, 0), (2, 1), (2, 3), (3, 0), (4, 0)])
    func lowerTemporalLayersDecodeAlone(codec: VideoCodec, _ structure: (layers: Int, bFrames: Int)) throws {
        let (layers, bFrames) = structure
        let result = try ClipSession.run(frames: 25, of: Self.clip.get()) {
            $0.codec = codec
            $0.structure.temporalLayers = layers
            $0.structure.bFrames = bFrames
            $0.structure.gopFrames = 17
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
            // Each slice names its layer: in H.264 as temporal_id of a prefix NAL unit (the top bits of the third extra
            // byte of its header), in HEVC as nuh_temporal_id_plus1 of the slice's own header.
            let named =
                codec == .h264
                ? units.filter { $0[0] & 31 == 14 }.map { Int($0[3] >> 5) }
                : units.filter { $0[0] >> 1 < 32 }.map { Int($0[1] & 7) - 1 }
            #expect(named == [packet.temporalLayer])
        }
    }

    /// A receiver that joins at a recovery point shows correct pictures from the end of that refresh pass on, also if
    /// it predicted from another clip's pictures before.
    @Test(arguments: codecs, [6, 11]) func joiningAtARecoveryPointShowsCorrectPictures(codec: VideoCodec, period: Int) throws {
        func change(_ configuration: inout EncoderConfiguration) {
            configuration.codec = codec
            configuration.structure.intraRefresh = true
            configuration.structure.gopFrames = period
        }
        let result = try ClipSession.run(frames: 36, of: Self.wideClip.get(), change)
        let other = try ClipSession.run(frames: 36, of: Self.wideClip.get(), from: 24, change)
        #expect(result.keys == [0])
        let entries = result.packets.filter { $0.displayIndex > 1 && $0.recoveryFrameCount != nil }
        #expect(entries.map(\.displayIndex) == Array(stride(from: 1 + period, to: 36, by: period)))
        for entry in entries where entry.displayIndex + period < 36 {
            // A pass takes one picture per column of macroblocks or coding tree blocks, but at most the period.
            let count = try #require(entry.recoveryFrameCount)
            #expect(codec == .h264 ? count == period : (3...period).contains(count))
            let right = Array(result.pictures[(entry.displayIndex + count)...])
            let late = Array(result.packets[entry.codingIndex...])
            let joined = decode(late, codec)
            // H.264's decoder withholds unrecovered pictures; HEVC's decoder shows all of them, with substitutes for
            // missing references.
            if codec == .h264 { #expect(joined.frames == right) }
            #expect(Array(joined.frames.suffix(right.count)) == right)
            let mixed = decode(other.packets[..<entry.codingIndex] + late, codec)
            #expect(mixed.frames.count == 36 && Array(mixed.frames.suffix(right.count)) == right)
            #expect(mixed.frames[entry.displayIndex] != result.pictures[entry.displayIndex])
        }
    }

    /// A receiver that joins an open GOP at any I picture shows this picture, and all pictures after it in display
    /// order, correctly.
    @Test(arguments: codecs, [1, 2, 3, 7]) func joiningAnOpenGOPShowsCorrectPictures(codec: VideoCodec, bFrames: Int) throws {
        let result = try ClipSession.run(frames: 52, of: Self.clip.get()) {
            $0.codec = codec
            $0.structure.openGOP = true
            $0.structure.bFrames = bFrames
            $0.structure.gopFrames = 12
            $0.structure.references = 3
        }
        #expect(result.keys == [0])
        let entries = result.packets.filter { $0.type == .i }
        #expect(entries.map(\.displayIndex) == [12, 24, 36, 48])
        var leading = 0
        // At the end of an H.264 stream, libavcodec does not show pictures that it read before it showed the recovery
        // point. So some pictures must follow the recovery point.
        for entry in entries.dropLast() {
            let late = Array(result.packets[entry.codingIndex...])
            leading += late.count { $0.displayIndex < entry.displayIndex }
            let decoded = decode(late, codec)
            #expect(wrong(decoded, result, from: entry.displayIndex) == [], "from \(entry.displayIndex)")
            // Without its leading pictures, the stream decodes without messages.
            let trimmed = late.filter { $0.displayIndex >= entry.displayIndex }
            let clean = decode(trimmed, codec)
            #expect(clean.messages == [] && clean.frames.count == result.pictures.count - entry.displayIndex)
            #expect(wrong(clean, result, from: entry.displayIndex) == [], "from \(entry.displayIndex)")
        }
        #expect(leading > 0)
    }
}
