import CLibAV
import LibAV
import Synchronization
package import VideoBase

extension DecodingSource {
    package func takeSound() -> [TrackPacket] { state.withLock { $0?.demuxer.takeSound() ?? [] } }

    package func readSound(until end: MediaTime?) throws -> [TrackPacket] {
        try state.withLock { state in
            guard let sound, let state else { return [] }
            var packets = state.demuxer.takeSound()
            // Sound lies near the pictures of its time; where it does not, there is none to be waited for.
            let patience = MediaTime(value: 10, timescale: 1)
            let packet = unsafe state.decoder.packet!
            while !state.inputEnded {
                if cancelled.load(ordering: .relaxed) { break }
                if let end, let last = packets.last?.presentation, !(last - sound.origin < end) { break }
                guard case .packet = try unsafe state.demuxer.read(packet) else { break }
                let base = state.demuxer.stream.timeBase
                let time = unsafe packet.pointee.dts
                unsafe state.demuxer.av.pointee.av_packet_unref!(packet)
                packets += state.demuxer.takeSound()
                let seconds = Double(Int128(time) - Int128(state.origin)) * base.value
                if let end, time != vaenc_no_pts(), seconds > end.seconds + patience.seconds { break }
            }
            return packets
        }
    }
}
