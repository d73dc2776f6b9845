import Synchronization
import Testing
import VideoBase

@testable import MediaFiles

/// Gaps in encoded sound.
@Suite struct SoundGapTests {
    private static let format = PCMFormat(sample: .s16, rate: 8000, channels: 1)
    private static let settings = AudioSettings(bitsPerSecond: 32_000)
    private static let block = [UInt8](repeating: 1, count: 2 * 1600)

    private static func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// Values that AAC does not support, invalid times, and sound after the end are refused.
    @Test func wrongUseIsRefused() throws {
        let settings =
            [0, -1, 96_001, .max].map { AudioSettings(rate: $0) } + [0, -1, 9, .max].map { AudioSettings(channels: $0) }
            + [0, -5, .max].map { AudioSettings(bitsPerSecond: $0) }
        for settings in settings {
            #expect(failure { try AudioTranscoder(pcm: Self.format, settings: settings) }?.category == .usage, "\(settings)")
        }
        for (rate, channels, words) in [(0, 1, "1 channel at 0 Hz"), (48_000, 0, "0 channels at 48000 Hz"), (384_001, 9, "9 channels at 384001 Hz")] {
            let error = failure { try AudioTranscoder(pcm: PCMFormat(sample: .s16, rate: rate, channels: channels)) }
            let isExpected = error?.message == "sound of \(words) is not supported: use 1 to 8 channels at 1000 to 384000 Hz"
            #expect(error?.category == .usage && isExpected, "\(error as Any)")
        }
        let transcoder = try AudioTranscoder(pcm: Self.format, settings: Self.settings)
        for time in [MediaTime(value: .max, timescale: 0), MediaTime(value: 1, timescale: -5), Self.time(.min), Self.time(1 << 40)] {
            #expect(failure { try transcoder.write(Self.block, at: time) }?.category == .usage, "\(time)")
        }
        _ = try transcoder.write(Self.block, at: .zero)
        #expect(try !transcoder.finish().isEmpty)
        #expect(failure { try transcoder.write(Self.block, at: Self.time(1)) }?.category == .usage)
        #expect(try transcoder.finish().isEmpty)
    }

    /// A gap of half an hour is filled with silence, which is encoded second by second, not as a whole.
    @Test func longGapIsFilledInPieces() throws {
        let transcoder = try AudioTranscoder(pcm: Self.format, settings: Self.settings)
        let calls = Count()
        transcoder.isCancelled = {
            calls.value.wrappingAdd(1, ordering: .relaxed)
            return false
        }
        var packets = try transcoder.write(Self.block, at: .zero)
        packets += try transcoder.write(Self.block, at: Self.time(1800))
        #expect(calls.value.load(ordering: .relaxed) >= 1799)
        packets += try transcoder.finish()
        let times = packets.compactMap { $0.presentation?.seconds }
        #expect(zip(times, times.dropFirst()).allSatisfy { abs($1 - $0 - 0.128) < 0.001 })
        #expect(abs((times.last ?? 0) - 1800.1) < 0.2, "\(times.suffix(2))")
    }

    /// If encoding is cancelled during a gap, it ends soon and returns the packets so far.
    @Test func fillingAGapCanBeCancelled() throws {
        let transcoder = try AudioTranscoder(pcm: Self.format, settings: Self.settings)
        let calls = Count()
        transcoder.isCancelled = { calls.value.wrappingAdd(1, ordering: .relaxed).newValue > 10 }
        var packets = try transcoder.write(Self.block, at: .zero)
        do {
            packets += try transcoder.write(Self.block, at: Self.time(3000))
            Issue.record("not cancelled")
        } catch let error as VaencError {
            #expect(error.category == .interrupted, "\(error)")
        }
        packets += try transcoder.finish()
        let last = try #require(packets.last?.presentation?.seconds)
        #expect(last > 9 && last < 11 && packets.count > 70, "\(last) \(packets.count)")
    }

    @Test func fillingAGapEndsWithItsTask() async throws {
        let task = Task {
            let transcoder = try AudioTranscoder(pcm: Self.format, settings: Self.settings)
            _ = try transcoder.write(Self.block, at: .zero)
            while !Task.isCancelled { await Task.yield() }
            _ = try transcoder.write(Self.block, at: Self.time(3000))
        }
        task.cancel()
        let result = await task.result
        #expect(throws: VaencError.self) { try result.get() }
    }

    /// A gap of more than an hour is not filled, and the sound after it keeps its time.
    @Test func gapOverAnHourIsNotFilled() throws {
        let transcoder = try AudioTranscoder(pcm: Self.format, settings: Self.settings)
        var packets = try transcoder.write(Self.block, at: .zero)
        packets += try transcoder.write(Self.block, at: Self.time(7200))
        packets += try transcoder.finish()
        let times = packets.compactMap { $0.presentation?.seconds }
        #expect(packets.count < 10 && abs((times.last ?? 0) - 7200.1) < 0.2, "\(times)")
    }
}
