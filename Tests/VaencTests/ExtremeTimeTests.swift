import TestOracles
import Testing
import VAAPI
@testable import Vaenc

/// Extreme times through the public API: accepted and handled, or refused with a remedy.
@Suite(.timeLimit(.minutes(60))) struct ExtremeTimeTests {
    private static let values: [Int64] = [
        .min, .min + 1, -(1 << 62), -(1 << 62) + 1, -(1 << 40), -1, 0, 1, 1 << 40, (1 << 62) - 1, 1 << 62, .max - 1, .max,
    ]
    private static let scales: [Int32] = [.min, -1, 0, 1, 25, 999, 90_000, 1_000_000_000, .max]

    /// Returns whether a time is accepted, by the definition, in arithmetic that cannot overflow.
    private func isTaken(_ time: MediaTime) -> Bool {
        let magnitude = Int128(time.value.magnitude)
        return time.timescale > 0 && magnitude < 1 << 62 && magnitude < Int128(time.timescale) << 40
    }

    private func configuration(_ bFrames: Int, _ rate: Rational) -> EncoderConfiguration {
        var configuration = Pictures.configuration()
        configuration.structure.bFrames = bFrames
        configuration.frameRate = rate
        return configuration
    }

    /// The options are checked before the camera is opened.
    @Test func optionsOfACameraAreChecked() {
        let changes: [(inout SourceOptions) -> Void] = [
            { $0.start = .seconds(-5) }, { $0.start = .seconds(-10_000_000_000_000) }, { $0.start = .seconds(Int64.max) },
            { $0.duration = .zero }, { $0.frameLimit = 0 }, { $0.outputSize = VideoSize(width: 1 << 40, height: 16) },
        ]
        for change in changes {
            var options = SourceOptions()
            change(&options)
            let error = #expect(throws: VaencError.self) { try CameraSource("/dev/video-that-does-not-exist", options: options) }
            #expect(error?.category == .usage, "\(error as Any)")
        }
    }

    /// Each value is tried in every time scale, from the first frame of a session on.
    @Test(arguments: [DeviceSelector.reference, .software]) func extremePresentationTimesAreAcceptedOrRefused(_ device: DeviceSelector) async throws {
        var taken = 0
        for (index, value) in Self.values.enumerated() {
            let session = try CompressionSession(
                configuration: configuration(2, index % 2 == 0 ? Rational(25) : Rational(1, 1000)), device: device)
            var last: MediaTime?
            var count = 0
            for scale in Self.scales {
                let time = MediaTime(value: value, timescale: scale)
                let buffer = try await session.makePixelBuffer()
                do {
                    try await session.encode(buffer, presentation: time)
                    #expect(isTaken(time) && last.map { $0 < time } ?? true, "\(time)")
                    last = time
                    count += 1
                } catch let error as VaencError {
                    #expect(error.category == .usage, "\(error)")
                    #expect(!isTaken(time) || last.map { time <= $0 } ?? false, "\(time): \(error)")
                }
            }
            try await session.completeFrames(until: MediaTime(value: .max, timescale: 1))
            await #expect(throws: VaencError.self) { try await session.completeFrames(until: MediaTime(value: .min, timescale: 0)) }
            try await session.completeFrames()
            let packets = try await read(count, of: session)
            #expect(packets.count == count)
            for packet in packets { #expect(packet.decode <= packet.presentation) }
            for (a, b) in zip(packets, packets.dropFirst()) { #expect(a.decode < b.decode, "\(a.decode) \(b.decode)") }
            let counts = session.statistics
            #expect(counts.taken == count && counts.delivered == count && counts.dropped == 0 && counts.pending == 0)
            taken += count
            session.invalidate()
        }
        #expect(taken > 15)
    }

    @Test(arguments: [DeviceSelector.reference, .software]) func extremeDurationsAreAcceptedOrRefused(_ device: DeviceSelector) async throws {
        let session = try CompressionSession(configuration: configuration(0, Rational(25)), device: device)
        var count = 0
        for value in Self.values {
            for scale in Self.scales {
                let duration = MediaTime(value: value, timescale: scale)
                let buffer = try await session.makePixelBuffer()
                do {
                    try await session.encode(buffer, presentation: Pictures.time(count), duration: duration)
                    #expect(isTaken(duration) && value >= 0, "\(duration)")
                    count += 1
                } catch let error as VaencError {
                    #expect(error.category == .usage && error.remedy != nil)
                    #expect(!isTaken(duration) || value < 0, "\(duration): \(error)")
                }
            }
        }
        #expect(count > 10)
        try await session.completeFrames()
        #expect(session.statistics.delivered == count)
        session.invalidate()
    }

    /// A new format begins before the last decoding times of the old one, at both ends of the range.
    @Test(arguments: [-(1 << 40) + 1, 1 << 39]) func extremeTimesIncreaseOverASwap(_ start: Int64) async throws {
        let session = try CompressionSession(configuration: configuration(0, Rational(25)), device: .reference)
        func encode(_ index: Int64) throws {
            try session.encode(try session.makePixelBuffer(), presentation: MediaTime(value: start + index, timescale: 1))
        }
        for index in 0..<3 { try encode(Int64(index)) }
        try await session.swap(to: configuration(3, Rational(1, 1000)))
        for index in 3..<9 { try encode(Int64(index)) }
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(9, of: session)
        #expect(packets.count == 9)
        for (a, b) in zip(packets, packets.dropFirst()) { #expect(a.decode < b.decode) }
        for packet in packets { #expect(packet.decode <= packet.presentation) }
    }
}
