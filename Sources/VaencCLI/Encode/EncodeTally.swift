import Glibc
import MediaFiles
import Synchronization
import Vaenc
import VideoBase

/// Counts packets as they arrive. The encoder's thread writes; the main thread reads.
final class EncodeTally: Sendable {
    struct Counts: Sendable {
        var frames = EncodeReport.Frames()
        var packetBytes = 0
        var largestPacket = 0
        var firstPacketAt: Double?
        var latencies = LatencyHistogram()
        var firstPresentation: MediaTime?
        var lastPresentation: MediaTime?
        var lastDuration: MediaTime?
        /// The times of the frames passed to the encoder, in the input's order.
        var firstInput: MediaTime?
        var lastInput: MediaTime?
        var lastInputDuration: MediaTime?
    }

    private let counts = Mutex(Counts())

    var snapshot: Counts { counts.withLock { $0 } }

    func took(_ timing: FrameTiming) {
        counts.withLock {
            $0.frames.input += 1
            if $0.firstInput == nil { $0.firstInput = timing.presentation }
            $0.lastInput = timing.presentation
            $0.lastInputDuration = timing.duration
        }
    }

    func delivered(_ packet: EncodedPacket) {
        counts.withLock {
            $0.frames.encoded += 1
            switch packet.type {
            case _ where packet.isRandomAccess: $0.frames.key += 1
            case .idr, .i, .p: $0.frames.p += 1
            case .b: $0.frames.b += 1
            }
            $0.packetBytes += packet.bytes.count
            $0.largestPacket = max($0.largestPacket, packet.bytes.count)
            if $0.firstPacketAt == nil { $0.firstPacketAt = Clock.secondsSinceStart }
            $0.latencies.add(packet.latencyNanoseconds)
            if $0.firstPresentation.map({ packet.presentation < $0 }) ?? true { $0.firstPresentation = packet.presentation }
            if $0.lastPresentation.map({ $0 < packet.presentation }) ?? true {
                $0.lastPresentation = packet.presentation
                $0.lastDuration = packet.duration
            }
        }
    }
}

extension EncodeTally.Counts {
    /// Returns the duration in media time, up to the end of the last frame.
    func mediaSeconds(frameRate: Rational) -> Double {
        guard let first = firstPresentation, let last = lastPresentation else { return 0 }
        return last.seconds - first.seconds + (lastDuration?.seconds ?? 1 / frameRate.value)
    }

    /// Returns the time at which the last frame of the input ends.
    func endOfInput(frameRate: Rational) -> MediaTime {
        let rate = frameRate.reduced
        let duration =
            lastInputDuration ?? MediaTime(value: Int64(rate.denominator), timescale: Int32(clamping: rate.numerator))
        return (lastInput ?? .zero) + duration
    }

    /// The input's average frame rate in frames per second; nil for at most 10 frames.
    var frameRate: Double? {
        guard let first = firstInput, let last = lastInput, frames.input > 10, last > first else { return nil }
        return Double(frames.input - 1) / (last.seconds - first.seconds)
    }

    func latency() -> EncodeReport.Latency {
        guard latencies.count > 0 else { return EncodeReport.Latency() }
        return EncodeReport.Latency(
            firstPacketMs: rounded((firstPacketAt ?? 0) * 1e3), meanMs: rounded(latencies.mean / 1e6),
            p99Ms: rounded(latencies.percentile(99) / 1e6))
    }
}

/// Rounds to three decimal places, for reports.
func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
