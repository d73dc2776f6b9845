import EncodeSession
import Synchronization
import Threads
import VAAPI
import VideoBase

/// The state of a session: the encoder of the current format, which a swap replaces, and the state that continues
/// across formats.
///
/// Calls that use the encoder run at the same time ("inside"). A change of the encoder waits until no call is inside,
/// and blocks other calls in the meantime.
final class SessionCore: Sendable {
    /// An encoder, and its position in the session.
    struct Stage: Sendable {
        var encoder: any VideoEncoder
        var choice: EncoderChoice
        var format: Int
        /// The number of frames that were accepted before the encoder's first frame.
        var frames = 0
        /// The last presentation time of those frames.
        var start: MediaTime?
    }

    struct State {
        var configuration: EncoderConfiguration
        var device: DeviceSelector
        var stage: Stage
        /// Whether the configuration has changed since the encoder was created. Only before the first frame.
        var isStale = false
        var hasBegun = false
        var isChanging = false
        var isInvalidated = false
        var inside = 0
        /// The last presentation time of a frame that was accepted.
        var lastPresentation: MediaTime?
        var acknowledged: [Int] = []
        /// The statistics of earlier formats.
        var statistics = EncoderStatistics()
    }

    let state: Monitor<State>
    /// Where a group scaled the session's pictures.
    let scaling = Mutex(ScalingAccount())
    /// The lock that is held while a running encoder is changed, so that the configuration is changed in the same
    /// order.
    private let changes = Mutex(())
    private let requireHardware: Bool
    private let relay: PacketRelay
    /// Returns the display of the session that this session shares its device with; nil if there is none.
    private let sharedDisplay: @Sendable () -> Display?

    static let invalidated = VaencError(.usage, "the session was invalidated", remedy: "create a new session")

    init(
        _ configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool, relay: PacketRelay,
        sharedDisplay: @escaping @Sendable () -> Display?
    ) throws {
        self.requireHardware = requireHardware
        self.relay = relay
        self.sharedDisplay = sharedDisplay
        let stage = try Self.makeStage(
            configuration, device: device, requireHardware: requireHardware, shared: sharedDisplay(), relay: relay, format: 0)
        state = Monitor(State(configuration: configuration, device: device, stage: stage))
    }

    private static func makeStage(
        _ configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool, shared: Display?,
        relay: PacketRelay, format: Int
    ) throws -> Stage {
        let chosen = try EncoderChoice.makeEncoder(
            configuration: configuration, device: device, requireHardware: requireHardware, shared: shared
        ) { relay.add($0, format: format) }
        return Stage(encoder: chosen.encoder, choice: chosen.choice, format: format)
    }

    // MARK: Calls

    /// Runs `body` with the encoder, at the same time as other calls. Blocks while the encoder is being changed.
    ///
    /// - Parameter waits: Whether `body` may wait for packets, or for other calls that wait for packets.
    /// - Throws: `usage` in the session's handler if `waits` is true, because the call would wait for that handler.
    func with<R>(waits: Bool = true, _ body: (Stage) throws -> R) throws -> R {
        if waits { try relay.handlers.check() }
        let stage = try enter()
        defer { state.withLock { $0.inside -= 1 } }
        return try body(stage)
    }

    /// Runs `body`, which passes a frame to the encoder. From then on the configuration is fixed. Each encoder checks
    /// that times increase among its own frames; this method checks the first frame after a swap.
    func encode(at presentation: MediaTime, _ body: (Stage) throws -> Void) throws {
        try relay.handlers.check()
        let stage = try enter(begins: true)
        var isAccepted = false
        defer {
            state.withLock { state in
                state.inside -= 1
                if isAccepted { state.lastPresentation = max(state.lastPresentation ?? presentation, presentation) }
            }
        }
        if let start = stage.start, presentation <= start {
            throw VaencError(
                .usage,
                "the frame at \(presentation.seconds) s is not after the last one before the swap, "
                    + "at \(start.seconds) s",
                remedy: "encode frames in presentation order")
        }
        try body(stage)
        isAccepted = true
    }

    /// Counts a frame whose picture was lost with its device as accepted and dropped.
    ///
    /// - Throws: The cause, if the encoder runs in software; the errors of `encode`.
    func drop(_ timing: FrameTiming, because cause: any Error) throws {
        try encode(at: timing.presentation) { stage in
            guard let encoder = stage.encoder as? HardwareEncoder else { throw cause }
            try encoder.drop(timing)
        }
    }

    private enum Entry {
        case stage(Stage)
        case mustRenew
    }

    private func enter(begins: Bool = false) throws -> Stage {
        while true {
            let entry: Entry = try state.wait { state in
                if state.isInvalidated { throw Self.invalidated }
                if state.isChanging { return try waitForChange() }
                if state.isStale {
                    state.isChanging = true
                    return .mustRenew
                }
                state.inside += 1
                if begins { state.hasBegun = true }
                return .stage(state.stage)
            }
            if case .stage(let stage) = entry { return stage }
            defer { state.withLock { $0.isChanging = false } }
            try renew()
        }
    }

    /// Makes a call wait until the encoder has changed. A swap waits for packets, and therefore for the handler.
    ///
    /// - Throws: `usage` in the handler.
    private func waitForChange<R>() throws -> R? {
        try relay.handlers.check()
        return nil
    }

    /// - Throws: Also `usage` for a time with an invalid timescale, because no frame can be compared with it.
    func completeFrames(until time: MediaTime?) throws {
        if let time, time.timescale <= 0 {
            throw VaencError(
                .usage, "cannot complete the frames up to \(time.value)/\(time.timescale) s: the time is invalid",
                remedy: "use a time with a positive timescale, or nil for all frames")
        }
        try with { try $0.encoder.completeFrames(until: time) }
    }

    /// Returns the current encoder, for calls that may block until other calls have finished.
    func present() throws -> Stage { try with { $0 } }

    /// Returns whether another encoder has replaced the stage's encoder. If a change is in progress, waits for it.
    func hasReplaced(_ stage: Stage) -> Bool {
        state.wait { state in
            if state.isInvalidated { return false }
            return state.isChanging ? nil : state.stage.encoder !== stage.encoder
        }
    }

    /// Replaces an encoder that has accepted no frame by an encoder with the changed configuration. Call only with
    /// `isChanging` set.
    private func renew() throws {
        let (configuration, device, old) = state.withLock { ($0.configuration, $0.device, $0.stage) }
        // The old encoder's display is used again, so that sessions that share it continue to do so.
        let display = (old.encoder as? HardwareEncoder)?.display
        let stage = try Self.makeStage(
            configuration, device: device, requireHardware: requireHardware, shared: sharedDisplay() ?? display, relay: relay,
            format: old.format)
        try install(stage, replacing: old) { $0.isStale = false }
    }

    private func install(_ stage: Stage, replacing old: Stage, _ body: (inout State) -> Void) throws {
        old.encoder.invalidate()
        let isInvalidated = state.withLock { state in
            if !state.isInvalidated {
                state.stage = stage
                body(&state)
            }
            return state.isInvalidated
        }
        guard isInvalidated else { return }
        stage.encoder.invalidate()
        throw Self.invalidated
    }

    // MARK: Changes

    /// Changes the configuration that the encoder is created from. Returns false if a frame was already accepted.
    func configure(_ body: (inout EncoderConfiguration) -> Void) throws -> Bool {
        try state.wait { state -> Bool? in
            if state.isInvalidated { throw Self.invalidated }
            if state.isChanging { return try waitForChange() }
            if state.hasBegun { return false }
            body(&state.configuration)
            state.isStale = true
            return true
        }
    }

    /// Changes the running encoder and the configuration.
    func change(_ change: RunningChange) throws {
        try with(waits: false) { stage in
            try changes.withLock { _ in
                try stage.encoder.change(change)
                state.withLock { $0.configuration.apply(change) }
            }
        }
    }

    /// Replaces the encoder by one with another configuration, after the old encoder has delivered its frames.
    ///
    /// - Throws: The errors of creating the new encoder; the old encoder then continues. The errors of draining the old
    ///   encoder. `usage` in the session's handler.
    func swap(to configuration: EncoderConfiguration, device: DeviceSelector?) throws {
        try relay.handlers.check()
        let (old, selector, hasBegun) = try state.wait { state -> (Stage, DeviceSelector, Bool)? in
            if state.isInvalidated { throw Self.invalidated }
            if state.isChanging { return nil }
            state.isChanging = true
            return (state.stage, device ?? state.device, state.hasBegun)
        }
        defer { state.withLock { $0.isChanging = false } }
        state.wait { $0.inside == 0 ? () : nil }
        let frames = old.frames + old.encoder.statistics.taken
        var relative = configuration
        // Forced key frames are counted over the whole session, as packets are.
        relative.structure.forcedKeyFrames = Set(configuration.structure.forcedKeyFrames.filter { $0 >= frames }.map { $0 - frames })
        var stage = try Self.makeStage(
            relative, device: selector, requireHardware: requireHardware, shared: sharedDisplay(), relay: relay,
            format: hasBegun ? old.format + 1 : old.format)
        stage.frames = frames
        stage.start = state.withLock { $0.lastPresentation }
        do {
            try stage.encoder.prepare()
            if hasBegun { try old.encoder.completeFrames(until: nil) }
        } catch {
            stage.encoder.invalidate()
            throw error
        }
        let counts = old.encoder.statistics
        let packets = state.withLock { $0.statistics.delivered } + counts.delivered
        relay.begin(stage.format, frames: frames, packets: packets)
        try install(stage, replacing: old) { state in
            state.configuration = configuration
            state.device = selector
            state.isStale = false
            state.acknowledged = []
            state.statistics.add(counts)
        }
    }

    /// The input surfaces of the current encoder; nil if it runs in software or cannot be prepared.
    var inputSurfaces: InputSurfaces? {
        guard let encoder = state.withLock({ $0.stage }).encoder as? HardwareEncoder else { return nil }
        return try? encoder.inputSurfaces
    }

    /// The last presentation time of a frame that was accepted.
    var lastPresentation: MediaTime? { state.withLock { $0.lastPresentation } }
    var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    func invalidate() {
        let stage = state.withLock { state in
            defer { state.isInvalidated = true }
            return state.isInvalidated ? nil : state.stage
        }
        stage?.encoder.invalidate()
    }

    var statistics: EncoderStatistics {
        var (sum, stage) = state.withLock { ($0.statistics, $0.stage) }
        sum.add(stage.encoder.statistics)
        return sum
    }
}

extension EncoderStatistics {
    mutating func add(_ other: EncoderStatistics) {
        taken += other.taken
        delivered += other.delivered
        dropped += other.dropped
        pending += other.pending
        retried += other.retried
        rebuilds += other.rebuilds
        limitsBroken += other.limitsBroken
        broken.add(other.broken)
        for rate in other.driverRates { add(rate) }
    }
}
