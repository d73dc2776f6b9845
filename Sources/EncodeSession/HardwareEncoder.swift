import Synchronization
package import VAAPI
package import VideoBase

/// A VA-API device's encoder behind the session protocol of every encoder.
///
/// `init` settles the configuration and asks the driver; `prepare` makes the device's objects, and so does the first
/// call that needs them. Frames are planned on the caller's thread; they are handed to the device, and packets are
/// waited for and delivered, on the encoder's own. The handler must not call back into the encoder, but for its counts, `change`
/// and `invalidate`: the other calls may wait for it. Dropped or invalidated, the encoder waits for what the device has, with a time limit,
/// and frees everything.
package final class HardwareEncoder: VideoEncoder {
    private enum Stage {
        case open
        case prepared(Supervisor)
        /// With what was there, for its counts.
        case invalidated(Supervisor?)
    }

    /// Where it encodes; the device's side may have been made anew on another display since.
    package let display: Display
    private let settings: EncodeSettings
    private let limits: SurvivalLimits
    private let handler: PacketHandler
    private let stage = Mutex(Stage.open)

    /// - Parameters:
    ///   - display: the device; kept until the encoder is gone.
    ///   - limits: what the device is allowed before the session gives up; nil for what suits the device.
    ///   - onPacket: called on the encoder's thread, in decoding order; an error comes last, and once.
    /// - Throws: `usage` for values out of range, `unavailable` for what the device cannot do, a `VAError` where it
    ///   does not answer.
    package init(
        display: Display, configuration: EncoderConfiguration, limits: SurvivalLimits? = nil,
        onPacket: @escaping PacketHandler
    ) throws {
        let limits = limits ?? .of(display.kind)
        self.limits = limits
        let (device, profile) = try SetUp.attempt(limits) { attempt in
            let device = attempt > 1 ? try display.reopened() ?? display : display
            device.watch.limitNanoseconds = limits.pictureNanoseconds
            let profile = try device.watch.run("asking for capabilities", device.vendor, .setUp) {
                try DeviceProfile(device, configuration.codec)
            }
            return (device, profile)
        }
        self.display = device
        settings = try SettingsResolver.resolve(configuration, on: profile)
        handler = onPacket
    }

    deinit { invalidate() }

    package var encoderDescription: EncoderDescription {
        get throws {
            let supervisor = try supervisor()
            let parameterSets = try supervisor.parameterSets
            return EncoderDescription(
                kind: display.kind, path: display.path, driver: display.vendor, codec: settings.profile.codec,
                profile: settings.profile, level: settings.level.name, size: settings.size,
                frameRate: settings.frameRate, effective: supervisor.effective, parameterSets: parameterSets)
        }
    }

    /// What a surface must have for the encoder to read it where it is.
    package var surfaceSize: VideoSize { settings.grid.coded }

    package func prepare() throws { _ = try supervisor() }

    package func makePixelBuffer() throws -> any PixelBuffer { try supervisor().makeBuffer() }

    package func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        try supervisor().encode(buffer, timing: timing, options: options)
    }

    package func completeFrames(until time: MediaTime?) throws { try supervisor().complete(until: time) }

    package func invalidateReferences(displayIndices: [Int]) throws {
        try supervisor().invalidateReferences(displayIndices)
    }

    package func change(_ change: RunningChange) throws { try supervisor().change(change) }

    package func refresh() throws { try supervisor().refresh() }

    package var statistics: EncoderStatistics {
        stage.withLock { stage in
            switch stage {
            case .open: EncoderStatistics()
            case .prepared(let supervisor), .invalidated(let supervisor?): supervisor.statistics
            case .invalidated: EncoderStatistics()
            }
        }
    }

    package func invalidate() {
        let last: Supervisor? = stage.withLock { stage in
            switch stage {
            case .open: stage = .invalidated(nil)
            case .prepared(let supervisor):
                stage = .invalidated(supervisor)
                return supervisor
            case .invalidated: break
            }
            return nil
        }
        last?.close()
    }

    package var pendingFrameCount: Int {
        stage.withLock { stage in
            if case .prepared(let supervisor) = stage { supervisor.pendingCount } else { 0 }
        }
    }

    private func supervisor() throws -> Supervisor {
        try stage.withLock { stage in
            switch stage {
            case .prepared(let supervisor): return supervisor
            case .invalidated: throw EncodePipeline.closed
            case .open:
                let supervisor = try Supervisor(display, settings, limits: limits, handler: handler)
                stage = .prepared(supervisor)
                return supervisor
            }
        }
    }
}
