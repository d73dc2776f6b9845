import Threads
import VideoBase

/// Passes packets from the encoders of a session to its outlet, with indices and times that continue across formats.
///
/// Encoders hold the relay, and the relay holds no encoder. Code that the relay runs on an encoder's thread can
/// therefore never release that encoder.
final class PacketRelay: Sendable {
    private struct State {
        /// The numbers of frames accepted and packets delivered before each format.
        var bases: [Int: (frames: Int, packets: Int)] = [:]
        var lastFormat = 0
        var lastDecode: MediaTime?
    }

    private let state = Monitor(State())
    private let outlet: PacketHandler
    /// The threads that are running the outlet.
    let handlers = HandlerThreads()

    init(_ outlet: @escaping PacketHandler) { self.outlet = outlet }

    func begin(_ format: Int, frames: Int, packets: Int) {
        state.withLock { $0.bases[format] = (frames, packets) }
    }

    func add(_ result: Result<EncodedPacket, any Error>, format: Int) {
        guard case .success(var packet) = result else { return handlers.running { outlet(result) } }
        state.withLock { state in
            if let base = state.bases[format] {
                packet.displayIndex += base.frames
                packet.codingIndex += base.packets
            }
            packet.formatIndex = format
            packet.changesFormat = format != state.lastFormat
            state.lastFormat = format
            packet.acknowledgementToken = packet.acknowledgementToken.map { Token.session($0, format: format) }
            packet.decode = Self.increasing(packet.decode, after: state.lastDecode)
            state.lastDecode = packet.decode
        }
        handlers.running { outlet(.success(packet)) }
    }

    /// Returns a decoding time that is after the last one. If a new format has more reordering than the last one, its
    /// first decoding times would precede the last one. They then follow at intervals of one microsecond until the
    /// original times are later.
    private static func increasing(_ time: MediaTime, after last: MediaTime?) -> MediaTime {
        guard let last, time <= last else { return time }
        let fine: Int32 = 1_000_000
        return MediaTime(value: last.converted(to: fine).value + 1, timescale: fine)
    }

    /// Converts acknowledgement tokens. A session's token has the format index in the bits above the encoder's token.
    enum Token {
        private static let shift = 52

        static func session(_ token: Int, format: Int) -> Int { token | format << shift }

        /// Returns the encoder's token; nil if the token belongs to another format.
        static func encoder(_ token: Int, format: Int) -> Int? {
            token >= 0 && token >> shift == format ? token & (1 << shift - 1) : nil
        }
    }
}
