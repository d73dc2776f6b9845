import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// Tests when packets are delivered and where key frames are.
@Suite struct DelayTests {
    /// With low latency or no frame delay, each packet is delivered before `encode` returns, whatever the other
    /// options.
    @Test(arguments: [
        StructureStreamTests.Case("low latency") { $0.pipeline.lowLatency = true },
        StructureStreamTests.Case("no delay") { $0.pipeline.maxFrameDelay = 0 },
        StructureStreamTests.Case("no delay, eight in flight, B frames") {
            $0.pipeline.maxFrameDelay = 0
            $0.pipeline.asyncDepth = 8
            $0.structure.bFrames = 3
        },
        StructureStreamTests.Case("low latency, refresh") {
            $0.pipeline.lowLatency = true
            $0.structure.intraRefresh = true
        },
        StructureStreamTests.Case("low latency, layers") {
            $0.pipeline.lowLatency = true
            $0.structure.temporalLayers = 3
        },
    ]) func packetIsDeliveredBeforeTheNextFrame(structure: StructureStreamTests.Case) throws {
        let session = try TestSession(structure.change)
        for index in 0..<10 {
            try session.encode(index)
            #expect(session.received.packets.map(\.displayIndex) == Array(0...index))
            #expect(session.encoder.pendingFrameCount == 0)
        }
        let packets = try session.finish()
        #expect(packets.allSatisfy { $0.decode == $0.presentation && $0.type != .b })
    }

    private func keys(
        frames: Int = 40, options: (Int) -> FrameOptions = { _ in FrameOptions() },
        _ change: (inout EncoderConfiguration) -> Void
    ) throws -> (idr: [Int], intra: [Int]) {
        let packets = try TestSession.run(frames: frames, options: options, change)
        // Key frames are identified by nal_unit_type and slice_type as FFmpeg reads them.
        let trace = try TraceHeaders(stream: packets.stream)
        let slices = trace.units(named: "Slice Header")
        #expect(slices.count == frames)
        let coded = zip(packets, slices).sorted { $0.0.displayIndex < $1.0.displayIndex }
        let idr = coded.filter { $0.1["nal_unit_type"] == 5 }.map(\.0.displayIndex)
        #expect(idr == coded.filter(\.0.isKey).map(\.0.displayIndex))
        let decoded = ForeignDecoder.libavcodec.decode(packets.stream)
        #expect(decoded.messages == [] && decoded.frames.count == frames)
        return (idr, coded.filter { $0.1["slice_type"].map { $0 % 5 } == 2 }.map(\.0.displayIndex))
    }

    /// Key frames are forced by index, by time and with the frame, at every position relative to the B frames. Each
    /// restarts the interval.
    @Test(arguments: [0, 2, 3, 7]) func forcedKeyFramesStartNewGOPs(bFrames: Int) throws {
        #expect(
            try keys {
                $0.structure.bFrames = bFrames
                $0.structure.forcedKeyFrames = [1, 2, 9, 30]
            }.idr == [0, 1, 2, 9, 30])
        // At 30 frames/s, 0.34 s is between frames 10 and 11, 0.5 s is frame 15, and 0.51 and 0.52 s mean frame 16.
        #expect(
            try keys {
                $0.structure.bFrames = bFrames
                $0.structure.forcedKeyTimes = [.seconds(0.34), .seconds(0.5), .seconds(0.51), .seconds(0.52), .seconds(0)]
            }.idr == [0, 11, 15, 16])
        #expect(
            try keys(options: { FrameOptions(forceKeyFrame: [4, 5, 23].contains($0)) }) {
                $0.structure.bFrames = bFrames
                $0.structure.gopFrames = 12
                $0.structure.forcedKeyFrames = [23, 38]
            }.idr == [0, 4, 5, 17, 23, 35, 38])
    }

    @Test func keyFramesFollowTheGOPLength() throws {
        // GOP lengths in seconds at a frame rate that does not divide them; the shorter of both lengths applies.
        #expect(try keys { $0.structure.gopDuration = .seconds(0.4) }.idr == [0, 12, 24, 36])
        #expect(
            try keys {
                $0.frameRate = Rational(24000, 1001)
                $0.structure.gopDuration = .seconds(0.5)
            }.idr == [0, 12, 24, 36])
        #expect(
            try keys {
                $0.structure.gopDuration = .seconds(0.5)
                $0.structure.gopFrames = 20
            }.idr == [0, 15, 30])
        let closed = try keys {
            $0.structure.gopFrames = 6
            $0.structure.idrInterval = 3
        }
        #expect(closed.intra == [0, 6, 12, 18, 24, 30, 36] && closed.idr == [0, 18, 36])
        let open = try keys {
            $0.structure.gopFrames = 10
            $0.structure.openGOP = true
            $0.structure.bFrames = 3
            $0.structure.idrInterval = 2
            $0.structure.forcedKeyFrames = [33]
        }
        #expect(open.intra == [0, 10, 20, 30, 33] && open.idr == [0, 20, 33])
    }
}
