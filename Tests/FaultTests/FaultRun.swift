import BitstreamInspection
import Glibc
import ReferenceDisplay
import Synchronization
import TestOracles
import VAAPI
import VideoBase

@testable import EncodeSession

/// One session on the reference driver behind the fault driver, and its results.
struct FaultRun {
    enum Shape: String, CaseIterable, Sendable {
        case ip = "I/P"
        case b = "B pyramid"
        case ownRate = "own rate control"
        case hevc = "HEVC I/P"
        case hevcB = "HEVC Main 10, B pyramid"
        /// P pictures with both lists, on a driver that supports no other P pictures.
        case hevcGPB = "HEVC GPB, own rate control"

        var configuration: EncoderConfiguration {
            var configuration = EncoderConfiguration(size: personality == nil ? FaultRun.size : VideoSize(width: 128, height: 128))
            configuration.structure.gopFrames = 5
            if [.hevc, .hevcB, .hevcGPB].contains(self) { configuration.codec = .hevc }
            switch self {
            case .ip, .hevc:
                configuration.rate.qp = 26
                configuration.structure.bFrames = 0
            case .b, .hevcB:
                configuration.rate.qp = 26
                configuration.structure.bFrames = 3
                configuration.structure.bPyramid = true
                if self == .hevcB { configuration.inputFormat = .p010 }
            case .ownRate, .hevcGPB:
                configuration.rate.rateControl = .cbr
                configuration.rate.rateController = .vaenc
                configuration.rate.bitrate = BitsPerSecond(200_000)
                configuration.structure.bFrames = 0
            }
            return configuration
        }

        /// The personality that the driver simulates; nil is the unrestricted driver.
        var personality: String? { self == .hevcGPB ? "iHD25nonfree-9A49" : nil }
    }

    enum Outcome: Character {
        /// Every frame was delivered.
        case whole = "w"
        /// Frames are missing and counted as dropped.
        case short = "s"
        case error = "e"
    }

    static let size = VideoSize(width: 64, height: 48)
    static let frameCount = 9

    var rules: String
    var taken: Int
    let codec: StreamCodec
    var packets: [EncodedPacket] = []
    /// The errors that the handler received, and the error that a call threw.
    var reported: [any Error] = []
    var thrown: (any Error)?
    /// The number of packets after the error.
    var late = 0
    var statistics = EncoderStatistics()
    /// The effective configuration at the end.
    var effective: [EffectiveEntry] = []
    /// The counts at the moments when they did not add up.
    var unbalanced: [EncoderStatistics] = []

    var outcome: Outcome {
        if !reported.isEmpty || thrown != nil { return .error }
        return statistics.dropped > 0 ? .short : .whole
    }

    /// A number for a comment in the rules: faults are counted by rules, and the comment makes them unique to this run.
    private static let number = Atomic<Int>(0)

    /// Encodes `frames` frames and ends the session.
    ///
    /// - Parameters:
    ///   - personality: the personality that the driver simulates.
    ///   - trace: the file into which the driver writes the number of each call.
    ///   - options: returns the options of a frame.
    init(
        _ configuration: EncoderConfiguration, _ rules: String, frames: Int = FaultRun.frameCount,
        limitMilliseconds: UInt64 = 600_000, personality: String? = nil, trace: String? = nil,
        options: @escaping (Int, Inbox) -> FrameOptions = { _, _ in FrameOptions() }
    ) {
        self.rules = rules
        taken = frames
        codec =
            switch configuration.encodedCodec {
            case .h264: .h264
            case .hevc: .hevc
            }
        let inbox = Inbox()
        var limits = RecoveryLimits()
        limits.pictureNanoseconds = limitMilliseconds * 1_000_000
        limits.pauseNanoseconds = 1_000_000
        do {
            let number = Self.number.add(1, ordering: .relaxed).newValue
            var variables = ["VAENC_FAULT": "# run \(number); \(rules)"]
            if let trace { variables["VAENC_FAULT_TRACE"] = trace }
            let encoder = try HardwareEncoder(
                display: ReferenceDisplay.open(
                    personality.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:], faults: variables,
                    limitNanoseconds: limits.pictureNanoseconds),
                configuration: configuration, limits: limits,
                onPacket: inbox.handler)
            defer {
                encoder.invalidate()
                statistics = encoder.statistics
                note(statistics)
            }
            for index in 0..<frames {
                let buffer = try encoder.makePixelBuffer()
                try Self.draw(index, buffer)
                try encoder.encode(buffer, timing: Self.timing(index), options: options(index, inbox))
                note(encoder.statistics)
            }
            try encoder.completeFrames(until: nil)
            note(encoder.statistics)
            effective = try encoder.encoderDescription.effective
        } catch {
            thrown = error
        }
        (packets, reported, late) = inbox.all
    }

    private mutating func note(_ statistics: EncoderStatistics) {
        if statistics.taken != statistics.delivered + statistics.dropped + statistics.pending {
            unbalanced.append(statistics)
        }
    }

    static func timing(_ index: Int) -> FrameTiming {
        FrameTiming(
            presentation: MediaTime(value: Int64(index) * 3000, timescale: 90000),
            duration: MediaTime(value: 3000, timescale: 90000))
    }

    /// Draws stripes that move over a still texture.
    static func draw(_ frame: Int, _ buffer: any PixelBuffer) throws {
        try unsafe buffer.withUnsafePlanes { planes in
            let size = unsafe planes.size
            let isWide = unsafe planes.format == .p010
            func put(_ value: Int, _ plane: Int, _ x: Int, _ y: Int) {
                let row = unsafe planes.base(plane) + y * planes.pitch(plane)
                if isWide {
                    unsafe row.storeBytes(of: UInt16(value << 8), toByteOffset: 2 * x, as: UInt16.self)
                } else {
                    unsafe row.storeBytes(of: UInt8(value), toByteOffset: x, as: UInt8.self)
                }
            }
            for y in 0..<size.height {
                for x in 0..<size.width {
                    put(40 + (x + 2 * frame + 3 * (y / 16)) % 64 * 2 + (x &* 7 &+ y &* 13) % 16, 0, x, y)
                }
            }
            for y in 0..<size.height / 2 {
                for x in 0..<size.width { put(100 + (y + frame) % 40, 1, x, y) }
            }
        }
    }

    // MARK: Judgment

    /// Returns the faults of the run; the list must be empty for every failure.
    func faults() -> [String] {
        var faults: [String] = []
        func check(_ holds: Bool, _ text: @autoclosure () -> String) { if !holds { faults.append(text()) } }
        check(unbalanced.isEmpty, "uncounted frames: \(unbalanced)")
        check(statistics.pending == 0, "\(statistics.pending) frames pending at the end")
        check(statistics.delivered == packets.count, "\(packets.count) packets, \(statistics.delivered) counted")
        check(Set(packets.map(\.displayIndex)).count == packets.count, "a frame came out twice")
        check(packets.map(\.codingIndex) == Array(0..<packets.count), "coding indices have gaps")
        check(late == 0, "\(late) results after the error")
        check(reported.count <= 1, "\(reported.count) errors")
        for error in reported + [thrown].compactMap({ $0 }) {
            check((error as? any DescribedError)?.category != .usage, "no typed error: \(error)")
            check(error is any DescribedError, "no typed error: \(error)")
        }
        if outcome != .error {
            check(statistics.taken == taken, "\(statistics.taken) taken of \(taken)")
            check(statistics.delivered + statistics.dropped == taken, "\(statistics) of \(taken)")
        }
        for (a, b) in zip(packets, packets.dropFirst()) {
            check(a.decode < b.decode, "decode times \(a.decode), \(b.decode)")
        }
        for packet in packets {
            check(packet.decode <= packet.presentation, "frame \(packet.displayIndex) decoded after it is shown")
        }
        return faults + streamFaults()
    }

    private func streamFaults() -> [String] {
        if packets.isEmpty { return outcome == .whole ? ["no packet"] : [] }
        let stream = packets.flatMap(\.bytes)
        let decoded = ForeignDecoder.libavcodec.decode(stream, codec: codec)
        var faults = decoded.messages.map { "libavcodec: \($0)" }
        if decoded.frames.count != packets.count {
            faults.append("libavcodec: \(decoded.frames.count) pictures of \(packets.count) packets")
        }
        if outcome == .whole { faults += Streams.inspect(stream, codec: codec).violations.map { "reader: \($0.description)" } }
        return faults
    }
}

/// Collects what a session's handler receives.
final class Inbox: Sendable {
    private struct State {
        var packets: [EncodedPacket] = []
        var errors: [any Error] = []
        var late = 0
    }

    private let state = Mutex(State())

    var all: ([EncodedPacket], [any Error], Int) { state.withLock { ($0.packets, $0.errors, $0.late) } }
    var packets: [EncodedPacket] { all.0 }
    var errors: [any Error] { all.1 }

    var handler: PacketHandler {
        { result in
            self.state.withLock { state in
                if !state.errors.isEmpty { state.late += 1 }
                switch result {
                case .success(let packet): state.packets.append(packet)
                case .failure(let error): state.errors.append(error)
                }
            }
        }
    }
}
