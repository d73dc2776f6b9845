import Synchronization
import Threads
import VideoBase

/// Counts frames and packets as they pass. The encoder's thread adds packets; the transcoder's thread adds frames and
/// reads.
final class FrameTally: Sendable {
    private let counts = Mutex(FrameCounts())

    var snapshot: FrameCounts { counts.withLock { $0 } }

    func countInput(_ timing: FrameTiming) {
        counts.withLock { $0.countInput(timing) }
    }

    func delivered(_ packet: EncodedPacket) {
        counts.withLock {
            $0.encoded += 1
            switch packet.type {
            case _ where packet.isRandomAccess: $0.key += 1
            case .idr, .i, .p: $0.p += 1
            case .b: $0.b += 1
            }
            $0.packetBytes += packet.bytes.count
            $0.largestPacket = max($0.largestPacket, packet.bytes.count)
            if $0.firstPacketAt == nil { $0.firstPacketAt = MonotonicClock.seconds }
            $0.latencies.add(packet.latency.wholeNanoseconds)
            if $0.firstPresentation.map({ packet.presentation < $0 }) ?? true { $0.firstPresentation = packet.presentation }
            if $0.lastPresentation.map({ $0 < packet.presentation }) ?? true {
                $0.lastPresentation = packet.presentation
                $0.lastDuration = packet.duration
            }
        }
    }
}
