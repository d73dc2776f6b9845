import VideoBase

/// Between the encoders of a session and its packets: gives them numbers and times that span formats.
///
/// Encoders hold it, and it holds none of them: what it does on an encoder's thread can never end that encoder.
final class PacketRelay: Sendable {
    private struct State {
        /// Frames taken and packets delivered before each format.
        var bases: [Int: (frames: Int, packets: Int)] = [:]
        var lastFormat = 0
        var lastDecode: MediaTime?
    }

    private let state = Monitor(State())
    private let outlet: PacketHandler
    /// Threads that run the outlet.
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

    /// A format with more reordering than the one before would begin before that one's last decoding time: its times
    /// are pressed together until they have caught up.
    private static func increasing(_ time: MediaTime, after last: MediaTime?) -> MediaTime {
        guard let last, time <= last else { return time }
        let fine: Int32 = 1_000_000
        return MediaTime(value: last.converted(to: fine).value + 1, timescale: fine)
    }

    /// Acknowledgement tokens carry their format above what an encoder gives out.
    enum Token {
        private static let shift = 52

        static func session(_ token: Int, format: Int) -> Int { token | format << shift }

        /// The encoder's own; nil for a token of another format.
        static func encoder(_ token: Int, format: Int) -> Int? {
            token >= 0 && token >> shift == format ? token & (1 << shift - 1) : nil
        }
    }
}
