import Synchronization
import VAAPI
import VideoBase

/// What is behind a session: the encoder of its present format, which a swap replaces, and what spans formats.
///
/// Calls that work on the encoder are inside at the same time; a change of the encoder waits until none is, and keeps
/// others out meanwhile.
final class SessionCore: Sendable {
    /// An encoder, and where it stands in the session's life.
    struct Stage: Sendable {
        var encoder: any VideoEncoder
        var choice: EncoderChoice
        var format: Int
        /// Frames that were taken before its first.
        var frames = 0
        /// The latest presentation time of those.
        var start: MediaTime?
    }

    struct State {
        var configuration: EncoderConfiguration
        var device: DeviceSelector
        var stage: Stage
        /// The configuration was changed since the encoder was made, which has taken nothing yet.
        var isStale = false
        var hasBegun = false
        var isChanging = false
        var isInvalidated = false
        var inside = 0
        /// The latest of a frame taken.
        var lastPresentation: MediaTime?
        var acknowledged: [Int] = []
        /// Of the formats before.
        var statistics = EncoderStatistics()
    }

    let state: Monitor<State>
    /// Held while a running encoder is changed: the configuration follows it in the same order.
    private let changes = Mutex(())
    private let requireHardware: Bool
    private let relay: PacketRelay

    static let invalidated = VaencError(.usage, "the session was invalidated", remedy: "make a new one")

    init(
        _ configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool, relay: PacketRelay
    ) throws {
        self.requireHardware = requireHardware
        self.relay = relay
        let stage = try Self.makeStage(configuration, device, requireHardware, relay, format: 0)
        state = Monitor(State(configuration: configuration, device: device, stage: stage))
    }

    private static func makeStage(
        _ configuration: EncoderConfiguration, _ device: DeviceSelector, _ requireHardware: Bool, _ relay: PacketRelay,
        format: Int
    ) throws -> Stage {
        let made = try EncoderChoice.makeEncoder(
            configuration: configuration, device: device, requireHardware: requireHardware
        ) { relay.add($0, format: format) }
        return Stage(encoder: made.encoder, choice: made.choice, format: format)
    }

    // MARK: Calls

    /// Runs `body` with the encoder, at the same time as others. Blocks while the encoder is being changed.
    ///
    /// - Parameter waits: `body` may wait for packets, or for others who do.
    /// - Throws: `usage` in the session's handler, where the call would wait for that handler.
    func with<R>(waits: Bool = true, _ body: (Stage) throws -> R) throws -> R {
        if waits { try relay.handlers.check() }
        let stage = try enter()
        defer { state.withLock { $0.inside -= 1 } }
        return try body(stage)
    }

    /// Runs `body`, which hands in a frame: from now on the configuration stands. Encoders see to it that times increase
    /// among their own frames.
    func encode(at presentation: MediaTime, _ body: (Stage) throws -> Void) throws {
        try relay.handlers.check()
        let stage = try enter(begins: true)
        defer { state.withLock { $0.inside -= 1 } }
        if let start = stage.start, presentation <= start {
            throw VaencError(
                .usage, "a frame at \(presentation.seconds) s is not after the one before the swap, at \(start.seconds) s",
                remedy: "give frames in the order in which they are shown")
        }
        try body(stage)
        state.withLock { $0.lastPresentation = max($0.lastPresentation ?? presentation, presentation) }
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

    /// Has a call wait until the encoder is changed. A swap waits for packets, and so for the handler.
    ///
    /// - Throws: `usage` in the handler.
    private func waitForChange<R>() throws -> R? {
        try relay.handlers.check()
        return nil
    }

    /// - Throws: `usage` also for a time that is none: no frame lies before it.
    func completeFrames(until time: MediaTime?) throws {
        if let time, time.timescale <= 0 {
            throw VaencError(
                .usage, "frames cannot be completed until \(time.value)/\(time.timescale) s",
                remedy: "give a time with a positive timescale, or none for all frames")
        }
        try with { try $0.encoder.completeFrames(until: time) }
    }

    /// The encoder at this moment, for calls that may block until others have done their work.
    func present() throws -> Stage { try with { $0 } }

    /// Whether another encoder has taken the stage's place; where one is about to, once it has.
    func hasReplaced(_ stage: Stage) -> Bool {
        state.wait { state in
            if state.isInvalidated { return false }
            return state.isChanging ? nil : state.stage.encoder !== stage.encoder
        }
    }

    /// Makes the encoder of a changed configuration in the place of one that has taken nothing. Only with `isChanging`.
    private func renew() throws {
        let (configuration, device, old) = state.withLock { ($0.configuration, $0.device, $0.stage) }
        let stage = try Self.makeStage(configuration, device, requireHardware, relay, format: old.format)
        try install(stage, inPlaceOf: old) { $0.isStale = false }
    }

    private func install(_ stage: Stage, inPlaceOf old: Stage, _ body: (inout State) -> Void) throws {
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

    /// Changes what the encoder is made of; false where frames were taken already.
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

    /// Changes the running encoder, and the configuration with it.
    func change(_ change: RunningChange) throws {
        try with(waits: false) { stage in
            try changes.withLock { _ in
                try stage.encoder.change(change)
                state.withLock { $0.configuration.apply(change) }
            }
        }
    }

    /// Puts an encoder of another configuration in the place of this one, whose frames come out before.
    ///
    /// - Throws: what making the new encoder throws, and then the old one goes on; what draining the old one throws; `usage` in the
    ///   session's handler.
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
        // Counted over the session's life, as the packets are.
        relative.forcedKeyFrames = Set(configuration.forcedKeyFrames.filter { $0 >= frames }.map { $0 - frames })
        var stage = try Self.makeStage(
            relative, selector, requireHardware, relay, format: hasBegun ? old.format + 1 : old.format)
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
        try install(stage, inPlaceOf: old) { state in
            state.configuration = configuration
            state.device = selector
            state.isStale = false
            state.acknowledged = []
            state.statistics.add(counts)
        }
    }

    /// The latest of a frame taken.
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
