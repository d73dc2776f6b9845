import CLibAV
import LibAV
import Synchronization
package import VideoBase

extension DecodingSource {
    package func takeSound() -> [TrackPacket] { best(takeSounds()) }
    package func takeSounds() -> [[TrackPacket]] { input.withLock { $0?.demuxer.takeSounds() ?? sounds.map { _ in [] } } }
    package func readSound(until end: MediaTime?) throws -> [TrackPacket] { best(try readSounds(until: end)) }

    /// Returns the packets of the stream that `sound` describes.
    private func best(_ packets: [[TrackPacket]]) -> [TrackPacket] {
        bestSound.flatMap { packets.indices.contains($0) ? packets[$0] : nil } ?? []
    }

    package func readSounds(until end: MediaTime?) throws -> [[TrackPacket]] {
        try input.withLock { input in
            guard let origin = sounds.first?.origin, let input else { return sounds.map { _ in [] } }
            var packets = input.demuxer.takeSounds()
            // Sound is near the pictures of its time. If no sound follows within this limit, the read stops.
            let limit = MediaTime(value: 10, timescale: 1)
            let packet = unsafe input.decoder.packet!
            while !input.inputEnded {
                if cancelled.load(ordering: .relaxed) { break }
                if let end, packets.allSatisfy({ $0.last?.presentation.map { !($0 - origin < end) } ?? false }) { break }
                guard case .packet = try unsafe input.demuxer.read(packet) else { break }
                let base = input.demuxer.stream.timeBase
                let time = unsafe packet.pointee.dts
                unsafe input.demuxer.av.pointee.av_packet_unref!(packet)
                for (index, more) in input.demuxer.takeSounds().enumerated() { packets[index] += more }
                let seconds = Double(Int128(time) - Int128(input.range.origin)) * base.value
                if let end, time != vaenc_no_pts(), seconds > end.seconds + limit.seconds { break }
            }
            return packets
        }
    }
}
