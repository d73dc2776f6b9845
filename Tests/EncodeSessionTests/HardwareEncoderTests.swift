import Glibc
import H264Syntax
import NALUnits
import ReferenceDisplay
import Synchronization
import TestOracles
import Testing
import Threads
import VAAPI
import VideoBase

@testable import EncodeSession

/// The packets and errors that an encoder's handler received.
final class Received: Sendable {
    private let state = Mutex<(packets: [EncodedPacket], errors: [String])>(([], []))
    var packets: [EncodedPacket] { state.withLock { $0.packets } }
    var errors: [String] { state.withLock { $0.errors } }
    var stream: [UInt8] { packets.flatMap(\.bytes) }

    var handler: PacketHandler {
        { result in
            self.state.withLock { state in
                switch result {
                case .success(let packet): state.packets.append(packet)
                case .failure(let error): state.errors.append("\(error)")
                }
            }
        }
    }
}

/// Sessions on the reference driver, which really encodes.
@Suite struct HardwareEncoderTests {
    static let size = VideoSize(width: 98, height: 50)

    private func time(_ index: Int) -> FrameTiming {
        FrameTiming(
            presentation: MediaTime(value: Int64(index), timescale: 30), duration: MediaTime(value: 1, timescale: 30))
    }

    /// Returns a sample of a slanted pattern that moves by one sample per frame.
    private func sample(_ x: Int, _ y: Int, _ frame: Int, _ plane: Int) -> UInt8 {
        plane == 0 ? UInt8((x * 2 + y + frame * 2) % 128 + 64) : UInt8(100 + 20 * plane + (y / 4) % 16)
    }

    private func fill(_ buffer: any PixelBuffer, frame: Int) throws {
        try unsafe buffer.withUnsafePlanes { planes in
            let size = unsafe planes.size
            let format = unsafe planes.format
            for plane in 0..<format.planeCount {
                for y in 0..<format.rows(plane: plane, height: size.height) {
                    for x in 0..<format.rowBytes(plane: plane, width: size.width) {
                        let isMixed = plane == 1 && format == .nv12
                        let component = isMixed ? 1 + x % 2 : format == .yv12 && plane > 0 ? 3 - plane : plane
                        let value = sample(isMixed ? x / 2 : x, y, frame, component)
                        unsafe planes.base(plane).storeBytes(
                            of: value, toByteOffset: y * planes.pitch(plane) + x, as: UInt8.self)
                    }
                }
            }
        }
    }

    private func configuration(_ change: (inout EncoderConfiguration) -> Void = { _ in }) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: Self.size)
        configuration.rate.qp = 20
        change(&configuration)
        return configuration
    }

    /// Encodes frames and completes them.
    private func encode(
        _ configuration: EncoderConfiguration, frames: Int, options: (Int) -> FrameOptions = { _ in FrameOptions() },
        buffer: (HardwareEncoder, Int) throws -> any PixelBuffer = { encoder, _ in try encoder.makePixelBuffer() }
    ) throws -> (Received, EncoderDescription) {
        let received = Received()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(), configuration: configuration, onPacket: received.handler)
        for index in 0..<frames {
            let buffer = try buffer(encoder, index)
            try fill(buffer, frame: index)
            try encoder.encode(buffer, timing: time(index), options: options(index))
        }
        try encoder.completeFrames(until: nil)
        #expect(encoder.pendingFrameCount == 0)
        let description = try encoder.encoderDescription
        encoder.invalidate()
        #expect(received.errors == [])
        return (received, description)
    }

    private func types(_ unit: [UInt8]) -> [NALUnitType?] { AnnexB.split(unit).map { NALUnitType(of: $0) } }

    @Test func packetsDescribeTheCodedFrames() throws {
        let (received, description) = try encode(
            configuration {
                $0.structure.gopFrames = 4
                $0.structure.forcedKeyFrames = [6]
                $0.structure.references = 2
                $0.structure.bFrames = 0
            }, frames: 12, options: { FrameOptions(forceKeyFrame: $0 == 9) })
        let packets = received.packets
        #expect(packets.map(\.type) == [.idr, .p, .p, .p, .idr, .p, .idr, .p, .p, .idr, .p, .p])
        #expect(packets.map(\.codingIndex) == Array(0..<12) && packets.map(\.displayIndex) == Array(0..<12))
        for (index, packet) in packets.enumerated() {
            #expect(packet.presentation == time(index).presentation && packet.decode == packet.presentation)
            #expect(packet.duration == time(index).duration && packet.latency > .zero)
            #expect(packet.qp == (packet.isKey ? 17 : 20))
            let units = types(packet.bytes)
            #expect(units == (packet.isKey ? [.sequenceParameterSet, .pictureParameterSet, .sei, .idrSlice] : [.slice]))
            if packet.isKey { #expect(Array(AnnexB.split(packet.bytes).prefix(2)) == description.parameterSets) }
        }
        #expect(description.kind == .reference && description.codec == .h264 && description.profile == .h264High)
    }

    /// By default there are two B frames: the decode time of packet k is the presentation time of the frame displayed
    /// before frame k.
    @Test func packetsWithBFramesAreInCodingOrder() throws {
        let (received, _) = try encode(configuration(), frames: 8)
        let packets = received.packets
        #expect(packets.map(\.type) == [.idr, .p, .b, .b, .p, .b, .b, .p])
        #expect(packets.map(\.displayIndex) == [0, 3, 1, 2, 6, 4, 5, 7])
        #expect(packets.map(\.codingIndex) == Array(0..<8))
        for (index, packet) in packets.enumerated() {
            #expect(packet.presentation == time(packet.displayIndex).presentation)
            #expect(packet.duration == time(0).duration && packet.latency > .zero)
            #expect(packet.qp == (packet.isKey ? 17 : packet.type == .b ? 22 : 20))
            #expect(packet.isReference == (packet.type != .b))
            #expect(abs(packet.decode.seconds - Double(index - 1) / 30) < 1e-4)
        }
    }

    /// Foreign decoders show the source pictures, cropped to the visible size.
    @Test(arguments: [(1, EntropyCoder.cabac, 1), (3, .cavlc, 2), (4, .cabac, 4)])
    func decodedPicturesMatchTheSource(slices: Int, entropy: EntropyCoder, references: Int) throws {
        let (received, _) = try encode(
            configuration {
                $0.coding.slices = slices
                $0.coding.entropy = entropy
                $0.structure.references = references
                $0.headers.accessUnitDelimiters = slices == 3
                $0.structure.gopFrames = 5
            }, frames: 9)
        for packet in received.packets {
            let units = types(packet.bytes)
            #expect(units.count { $0 == .slice || $0 == .idrSlice } == slices)
            #expect((units.first == .accessUnitDelimiter) == (slices == 3))
        }
        for decoder in ForeignDecoder.all(for: .h264) {
            let decoded = decoder.decode(received.stream)
            #expect(decoded.messages == [] && decoded.frames.count == 9)
            for (index, frame) in decoded.frames.enumerated() {
                #expect(frame.width == Self.size.width && frame.height == Self.size.height)
                var squares = 0
                for y in 0..<frame.height {
                    for x in 0..<frame.width {
                        let difference = Int(frame.bytes[y * frame.width + x]) - Int(sample(x, y, index, 0))
                        squares += difference * difference
                    }
                }
                // 36 dB: 255² / 10^3.6 is a mean square of 16.3.
                #expect(squares < 16 * frame.width * frame.height)
            }
        }
    }

    @Test func callerBuffersGiveTheSameStream() throws {
        let (own, _) = try encode(configuration(), frames: 5)
        for format in [PixelFormat.nv12, .i420, .yv12] {
            let (copied, _) = try encode(
                configuration(), frames: 5, buffer: { _, _ in try SystemPixelBuffer(format: format, size: Self.size) })
            #expect(copied.stream == own.stream)
        }
    }

    /// More buffers are made than the pool has, and each is dropped.
    @Test func droppedBuffersReturnToThePool() throws {
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(), configuration: configuration(), onPacket: Received().handler)
        for _ in 0..<20 { _ = try encoder.makePixelBuffer() }
        encoder.invalidate()
    }

    @Test func lowLatencyDeliversEachPacketAtOnce() throws {
        let received = Received()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(), configuration: configuration { $0.pipeline.lowLatency = true },
            onPacket: received.handler)
        for index in 0..<5 {
            try encoder.encode(encoder.makePixelBuffer(), timing: time(index), options: FrameOptions())
            #expect(received.packets.count == index + 1)
        }
        encoder.invalidate()
    }

    @Test func completeFramesDeliversUntilTheTime() throws {
        let received = Received()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(), configuration: configuration { $0.pipeline.asyncDepth = 4 },
            onPacket: received.handler)
        for index in 0..<4 {
            try encoder.encode(encoder.makePixelBuffer(), timing: time(index), options: FrameOptions())
        }
        try encoder.completeFrames(until: time(1).presentation)
        #expect(received.packets.count >= 2)
        try encoder.completeFrames(until: nil)
        #expect(received.packets.count == 4 && encoder.pendingFrameCount == 0)
    }

    @Test func wrongFramesAreRefusedAndSessionContinues() throws {
        let received = Received()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(), configuration: configuration(), onPacket: received.handler)
        func category(_ body: () throws -> Void) -> ErrorCategory? {
            do {
                try body()
                return nil
            } catch {
                return (error as? any DescribedError)?.category
            }
        }
        let wrongSize = try SystemPixelBuffer(format: .nv12, size: VideoSize(width: 64, height: 64))
        #expect(category { try encoder.encode(wrongSize, timing: time(0), options: FrameOptions()) } == .usage)
        let wrongFormat = try SystemPixelBuffer(format: .rgba, size: Self.size)
        #expect(category { try encoder.encode(wrongFormat, timing: time(0), options: FrameOptions()) } == .usage)
        let buffer = try encoder.makePixelBuffer()
        try encoder.encode(buffer, timing: time(5), options: FrameOptions())
        #expect(category { try encoder.encode(buffer, timing: time(6), options: FrameOptions()) } == .usage)
        let late = try encoder.makePixelBuffer()
        #expect(category { try encoder.encode(late, timing: time(5), options: FrameOptions()) } == .usage)
        // None of the errors ended the session.
        try encoder.encode(late, timing: time(6), options: FrameOptions())
        try encoder.completeFrames(until: nil)
        #expect(received.packets.count == 2 && received.errors == [])
        encoder.invalidate()
        encoder.invalidate()
        #expect(category { try encoder.completeFrames(until: nil) } == .usage)
        #expect(category { _ = try encoder.makePixelBuffer() } == .usage)
        #expect(category { try encoder.encode(late, timing: time(7), options: FrameOptions()) } == .usage)
    }

    /// If the encoder is invalidated or dropped with frames in flight, the call returns, no packet follows, and buffers
    /// in use outlive the encoder.
    @Test func encoderEndsWithFramesInFlight() throws {
        for isDropped in [false, true] {
            let received = Received()
            var encoder: HardwareEncoder? = try HardwareEncoder(
                display: ReferenceDisplay.open(), configuration: configuration { $0.pipeline.asyncDepth = 4 },
                onPacket: received.handler)
            let loan = try encoder?.makePixelBuffer()
            for index in 0..<4 {
                guard let buffer = try encoder?.makePixelBuffer() else { break }
                try encoder?.encode(buffer, timing: time(index), options: FrameOptions())
            }
            if !isDropped { encoder?.invalidate() }
            encoder = nil
            let count = received.packets.count
            #expect(count <= 4 && received.errors == [])
            if let loan { try fill(loan, frame: 0) }
            #expect(received.packets.count == count)
        }
    }

    /// Completing covers the frames taken before the call; frames that arrive meanwhile may wait for later ones.
    @Test func completeFramesIgnoresLaterFrames() throws {
        let received = Received()
        let handler = Monitor((isEntered: false, isHeld: true))
        let display = try ReferenceDisplay.open()
        let settings = try SettingsResolver.resolve(
            configuration {
                $0.structure.bFrames = 2
                $0.pipeline.asyncDepth = 4
            }, on: DeviceCapabilities(display, .h264))
        let supervisor = try Supervisor(display, settings, limits: .of(display.kind)) { result in
            handler.withLock { $0.isEntered = true }
            handler.wait { $0.isHeld ? nil : () }
            received.handler(result)
        }
        func give(_ frames: Range<Int>) throws {
            for index in frames {
                try supervisor.encode(supervisor.makeBuffer(), timing: time(index), options: FrameOptions())
            }
        }
        try give(0..<3)
        // The first frame is read, and the other two wait for the next one.
        handler.wait { $0.isEntered ? () : nil }
        let pending = Monitor<Int?>(nil)
        let completer = try DeviceThread("test")
        completer.async {
            do { try supervisor.complete(until: nil) } catch { Issue.record("\(error)") }
            let count = supervisor.pendingCount
            pending.withLock { $0 = count }
        }
        // The completer submits them while no frame can be added.
        let pipeline = try #require(supervisor.state.withLock { $0.pipeline })
        while pipeline.state.withLock({ $0.inFlight == 0 }) { usleep(1000) }
        try give(3..<5)
        handler.withLock { $0.isHeld = false }
        #expect(pending.wait { $0 } == 2)
        try supervisor.complete(until: nil)
        #expect(received.packets.count == 5 && supervisor.statistics.dropped == 0)
        supervisor.close()
    }

    /// A buffer that the caller draws into is not submitted to the device.
    @Test func buffersBeingDrawnAreRefused() throws {
        let received = Received()
        let encoder = try HardwareEncoder(
            display: ReferenceDisplay.open(), configuration: configuration(), onPacket: received.handler)
        let buffer = try encoder.makePixelBuffer()
        _ = try unsafe buffer.withUnsafePlanes { _ in
            #expect(throws: VaencError.self) { try encoder.encode(buffer, timing: time(0), options: FrameOptions()) }
        }
        #expect(encoder.statistics.taken == 0)
        try encoder.encode(buffer, timing: time(0), options: FrameOptions())
        try encoder.completeFrames(until: nil)
        #expect(received.packets.count == 1)
        #expect(throws: VaencError.self) { try unsafe buffer.withUnsafePlanes { _ in } }
        encoder.invalidate()
    }

    /// A failure is reported once, after the packets of the frames submitted before it; every later call throws it.
    @Test(arguments: [0, 2]) func failureEndsTheSessionAfterSubmittedFrames(bFrames: Int) throws {
        let received = Received()
        let display = try ReferenceDisplay.open()
        let settings = try SettingsResolver.resolve(configuration { $0.structure.bFrames = bFrames }, on: DeviceCapabilities(display, .h264))
        let supervisor = try Supervisor(
            display, settings, limits: .of(display.kind), handler: received.handler)
        for index in 0..<3 {
            try supervisor.encode(supervisor.makeBuffer(), timing: time(index), options: FrameOptions())
        }
        let failure = VaencError(.internalFault, "the engine is on fire")
        let pipeline = try #require(supervisor.state.withLock { $0.pipeline })
        pipeline.fail(failure)
        pipeline.fail(VaencError(.internalFault, "a second failure"))
        // The failure is reported on another thread; the packets are complete when it is reported.
        Polling.wait { !received.errors.isEmpty }
        #expect(throws: failure) { try supervisor.complete(until: nil) }
        #expect(throws: failure) { _ = try supervisor.makeBuffer() }
        supervisor.close()
        // B frames wait for the frame after them, so they are not submitted.
        let delivered = bFrames > 0 ? 1 : 3
        #expect(received.packets.count == delivered)
        #expect(supervisor.statistics.taken == 3 && supervisor.statistics.delivered == delivered)
        #expect(supervisor.statistics.dropped == 3 - delivered)
        #expect(received.errors == ["the engine is on fire"])
    }

    @Test func concurrentSessionsGiveTheSameStream() throws {
        let display = try ReferenceDisplay.open()
        let all = (0..<4).map { _ in Received() }
        let encoders = try all.map {
            try HardwareEncoder(display: display, configuration: configuration(), onPacket: $0.handler)
        }
        for index in 0..<4 {
            for encoder in encoders {
                let buffer = try encoder.makePixelBuffer()
                try fill(buffer, frame: index)
                try encoder.encode(buffer, timing: time(index), options: FrameOptions())
            }
        }
        for encoder in encoders { try encoder.completeFrames(until: nil) }
        #expect(all.allSatisfy { $0.packets.count == 4 && $0.stream == all[0].stream })
    }

    @Test func sizesOutsideTheLimitsAreRefused() throws {
        let display = try ReferenceDisplay.open()
        for (width, height) in [(2, 2), (16384, 16384)] {
            var configuration = EncoderConfiguration(size: VideoSize(width: width, height: height))
            configuration.rate.qp = 30
            do {
                _ = try HardwareEncoder(display: display, configuration: configuration, onPacket: { _ in })
                Issue.record("\(width)×\(height) was taken")
            } catch let error as VaencError {
                #expect(error.category == .unavailable && error.remedy?.contains("encodes H.264 High from") == true)
            }
        }
    }
}
