import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// Foreign decoders decode streams of every structure.
@Suite struct StructureStreamTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The decoders whose pictures are compared.
        var judges: [ForeignDecoder]
        var change: @Sendable (inout EncoderConfiguration) -> Void

        init(
            _ name: String, judges: [ForeignDecoder] = ForeignDecoder.all(for: .h264),
            _ change: @escaping @Sendable (inout EncoderConfiguration) -> Void
        ) {
            testDescription = name
            self.judges = judges
            self.change = change
        }
    }

    static let cases = [
        Case("default") { _ in },
        // openh264 2.3 shows an IDR picture twice instead of the P picture before it if B pictures came between them,
        // also in x264's streams.
        Case("three flat B frames, forced keys", judges: [.libavcodec]) {
            $0.structure.bFrames = 3
            $0.structure.bPyramid = false
            $0.structure.forcedKeyFrames = [7]
            $0.structure.forcedKeyTimes = [.seconds(0.5)]
        },
        Case("pyramid of three, two references, CAVLC, three slices") {
            $0.structure.bFrames = 3
            $0.structure.references = 2
            $0.coding.entropy = .cavlc
            $0.coding.slices = 3
            $0.structure.gopFrames = 10
        },
        // openh264 2.6 reports errors in this stream.
        Case("pyramid of seven, open, four references", judges: [.libavcodec]) {
            $0.structure.bFrames = 7
            $0.structure.openGOP = true
            $0.structure.references = 4
            $0.structure.gopFrames = 9
        },
        Case("open group with IDR every second") {
            $0.structure.openGOP = true
            $0.structure.idrInterval = 2
            $0.structure.gopFrames = 6
        },
        Case("Main, one B frame, deblocking moved") {
            $0.profile = .h264Main
            $0.structure.bFrames = 1
            $0.coding.deblocking = Deblocking(alphaOffset: -2, betaOffset: 3)
            $0.structure.references = 3
        },
        Case("three temporal layers") { $0.structure.temporalLayers = 3 },
        Case("two temporal layers of B frames, no filter") {
            $0.structure.temporalLayers = 2
            $0.structure.bFrames = 1
            $0.coding.deblocking = Deblocking(isOn: false)
        },
        Case("long-term references", judges: [.libavcodec]) {
            $0.structure.longTermReferences = 2
            $0.structure.references = 3
            $0.structure.gopFrames = 12
        },
        Case("intra refresh") {
            $0.structure.intraRefresh = true
            $0.structure.gopFrames = 10
        },
        Case("delimiters, Constrained Baseline") {
            $0.profile = .h264ConstrainedBaseline
            $0.headers.accessUnitDelimiters = true
            $0.structure.references = 2
        },
    ]

    /// Foreign decoders show every frame in display order without messages, and the timestamps are in order.
    @Test(arguments: cases) func everyStructureDecodesToTheSource(_ structure: Case) throws {
        let count = 20
        let packets = try TestSession.run(frames: count, structure.change)
        #expect(packets.count == count && Set(packets.map(\.displayIndex)).count == count)
        #expect(packets.map(\.codingIndex) == Array(0..<count))
        for (a, b) in zip(packets, packets.dropFirst()) { #expect(a.decode < b.decode) }
        for packet in packets {
            #expect(!(packet.presentation < packet.decode))
            #expect(packet.presentation == TestSession.timing(packet.displayIndex).presentation)
        }
        for decoder in structure.judges {
            let decoded = decoder.decode(packets.stream)
            #expect(decoded.messages == [] && decoded.frames.count == count, "\(decoder)")
            for (index, frame) in decoded.frames.enumerated() {
                let quality = PSNR.of(frame.luma, TestSession.source(index)[...])
                #expect(quality > 32, "\(decoder), frame \(index)")
            }
        }
    }

    @Test func structureDeterminesThePictureTypes() throws {
        func types(_ change: (inout EncoderConfiguration) -> Void) throws -> [PictureType] {
            try TestSession.run(frames: 13, change).map(\.type)
        }
        #expect(
            try types { $0.structure.gopFrames = 6 } == [.idr, .p, .b, .b, .p, .b, .idr, .p, .b, .b, .p, .b, .idr])
        #expect(
            try types {
                $0.structure.gopFrames = 6
                $0.structure.openGOP = true
            } == [.idr, .p, .b, .b, .i, .b, .b, .p, .b, .b, .i, .b, .b])
        #expect(
            try types {
                $0.structure.gopFrames = 4
                $0.structure.idrInterval = 2
                $0.structure.bFrames = 0
            } == [.idr, .p, .p, .p, .i, .p, .p, .p, .idr, .p, .p, .p, .i])
    }

    @Test(arguments: [2, 3, 4]) func lowerTemporalLayersDecodeAlone(layers: Int) throws {
        let packets = try TestSession.run(frames: 17) { $0.structure.temporalLayers = layers }
        #expect(Set(packets.map(\.temporalLayer)) == Set(0..<layers))
        let whole = ForeignDecoder.libavcodec.decode(packets.stream)
        #expect(whole.messages == [] && whole.frames.count == 17)
        for kept in 0..<layers {
            let some = packets.filter { $0.temporalLayer <= kept }
            let decoded = ForeignDecoder.libavcodec.decode(some.stream)
            #expect(decoded.messages == [] && decoded.frames.count == some.count)
            for (packet, frame) in zip(some, decoded.frames) { #expect(frame == whole.frames[packet.displayIndex]) }
        }
    }

    /// Frame 6 is lost, and the loss is reported before frame 8: from there on all pictures are correct without a key
    /// frame.
    @Test func picturesAreCorrectAfterInvalidation() throws {
        let session = try TestSession {
            $0.structure.references = 4
            $0.pipeline.lowLatency = true
        }
        for index in 0..<14 {
            if index == 8 { try session.encoder.invalidateReferences(displayIndices: [6]) }
            try session.encode(index)
        }
        try checkRecovery(session.finish(), lost: [6], from: 8)
    }

    /// The refresh predicts from a long-term reference that the receiver acknowledged.
    @Test func picturesAreCorrectAfterLongTermRefresh() throws {
        let session = try TestSession {
            $0.structure.longTermReferences = 2
            $0.structure.references = 2
            $0.pipeline.lowLatency = true
        }
        for index in 0..<16 {
            var options = FrameOptions()
            if index == 3 { options.acknowledgedTokens = session.received.packets.prefix(1).compactMap(\.acknowledgementToken) }
            options.refreshFromLongTerm = index == 9
            try session.encode(index, options)
        }
        try checkRecovery(session.finish(), lost: [5, 6], from: 9)
    }

    private func checkRecovery(_ packets: [EncodedPacket], lost: Set<Int>, from start: Int) {
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0])
        let whole = ForeignDecoder.libavcodec.decode(packets.stream)
        #expect(whole.messages == [] && whole.frames.count == packets.count)
        let received = packets.filter { !lost.contains($0.displayIndex) }
        let decoded = ForeignDecoder.libavcodec.decode(received.stream)
        let right = packets.count - start
        #expect(decoded.frames.count >= right)
        #expect(Array(decoded.frames.suffix(right)) == Array(whole.frames.suffix(right)))
        // The frame after the lost one is wrong, because it refers to the lost one.
        let next = (lost.max() ?? 0) + 1
        #expect(decoded.frames.dropLast(packets.count - 1 - next).last != whole.frames[next])
    }

    /// A receiver joins where a refresh pass begins and predicts from wrong pictures: those of another stream with the
    /// same numbers. After the pass its pictures are correct.
    @Test func intraRefreshRepairsWrongReferences() throws {
        func change(_ configuration: inout EncoderConfiguration) {
            configuration.structure.intraRefresh = true
            configuration.structure.gopFrames = 10
        }
        let packets = try TestSession.run(frames: 40, change)
        let other = try TestSession.run(frames: 40, moved: 23, change)
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0])
        let whole = ForeignDecoder.libavcodec.decode(packets.stream)
        let entries = packets.filter {
            $0.displayIndex > 2 && $0.displayIndex + ($0.recoveryFrameCount ?? packets.count) < packets.count
        }
        #expect(entries.count >= 2)
        for entry in entries {
            let joined = Array(other[..<entry.codingIndex]) + Array(packets[entry.codingIndex...])
            let decoded = ForeignDecoder.libavcodec.decode(joined.stream)
            let converged = entry.displayIndex + (entry.recoveryFrameCount ?? 0)
            #expect(decoded.frames.count == packets.count)
            #expect(decoded.frames[entry.displayIndex] != whole.frames[entry.displayIndex])
            for index in converged..<packets.count { #expect(decoded.frames[index] == whole.frames[index]) }
        }
    }

    /// The region is coded with higher quality than the same area without it; the rest keeps its quality.
    @Test func regionOfInterestRaisesItsQuality() throws {
        func quality(_ regions: [RegionOfInterest], _ columns: Range<Int>) throws -> Double {
            let packets = try TestSession.run(frames: 4) {
                $0.rate.qp = 36
                $0.coding.regionsOfInterest = regions
            }
            let frame = ForeignDecoder.libavcodec.decode(packets.stream).frames[3]
            let rows = 0..<TestSession.size.height
            func part(_ luma: ArraySlice<UInt8>) -> [UInt8] {
                rows.flatMap { y in columns.map { luma[luma.startIndex + y * TestSession.size.width + $0] } }
            }
            return PSNR.of(part(frame.luma)[...], part(TestSession.source(3)[...])[...])
        }
        let region = RegionOfInterest(x: 0, y: 0, width: 80, height: 96, qpDelta: -12)
        #expect(try quality([region], 0..<64) > quality([], 0..<64) + 3)
        #expect(try abs(quality([region], 96..<160) - quality([], 96..<160)) < 1.5)
    }

    @Test func packetsKeepTheMaximumFrameDelay() throws {
        let session = try TestSession {
            $0.structure.bFrames = 2
            $0.pipeline.maxFrameDelay = 2
            $0.pipeline.asyncDepth = 8
        }
        for index in 0..<12 {
            try session.encode(index)
            let out = Set(session.received.packets.map(\.displayIndex))
            for due in 0..<max(index - 1, 0) { #expect(out.contains(due)) }
        }
        _ = try session.finish()
    }

    /// Waiting frames are delivered before the time is reached, and more frames may follow.
    @Test func framesContinueAfterCompletion() throws {
        let session = try TestSession { $0.structure.bFrames = 3 }
        for index in 0..<7 { try session.encode(index) }
        try session.encoder.completeFrames(until: TestSession.timing(6).presentation)
        #expect(session.received.packets.count == 7)
        for index in 7..<12 { try session.encode(index) }
        try session.encoder.refresh()
        #expect(session.received.packets.count == 12)
        for index in 12..<15 { try session.encode(index) }
        let packets = try session.finish()
        #expect(packets.filter(\.isKey).map(\.displayIndex) == [0, 12])
        let decoded = ForeignDecoder.libavcodec.decode(packets.stream)
        #expect(decoded.messages == [] && decoded.frames.count == 15)
    }
}
