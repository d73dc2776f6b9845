import Synchronization
import Threads
package import VAAPI
package import VideoBase

/// An encoder session on a VA-API device.
///
/// `init` resolves the configuration and queries the driver. `prepare`, or the first call that needs them, creates the
/// device objects. Frames are planned on the caller's thread. The encoder's own threads submit them to the device, wait
/// for packets and deliver them.
///
/// The packet handler must not call back into the encoder, except for `statistics`, `pendingFrameCount`, `change` and
/// `invalidate`: the other calls may wait for the handler. When the encoder is invalidated or released, it waits for
/// the work on the device, with a time limit, and frees everything.
package final class HardwareEncoder: VideoEncoder {
    private enum Stage {
        case open
        case prepared(Supervisor)
        /// Keeps the supervisor, if there was one, for its counts.
        case invalidated(Supervisor?)
    }

    /// The display that the session started on. After a fault, the device objects may have been reinitialized on
    /// another display.
    package let display: Display
    private let settings: EncodeSettings
    private let limits: RecoveryLimits
    private let conversion: (any PictureConversion)?
    private let handler: PacketHandler
    private let stage = Mutex(Stage.open)

    /// Resolves the configuration. Blocks while the driver answers.
    ///
    /// - Parameters:
    ///   - display: The device. It is retained until the encoder is released.
    ///   - limits: The limits on device faults and delays before the session gives up; nil selects the limits for the
    ///     kind of device.
    ///   - conversion: Converts frames of other formats than the surfaces can be copied from; nil rejects such frames.
    ///   - onPacket: Called on the encoder's thread in decoding order. An error is the last call and comes at most
    ///     once.
    /// - Throws: `usage` for values out of range, `unavailable` for features that the device does not support, a
    ///   `VAError` if the device does not answer.
    package init(
        display: Display, configuration: EncoderConfiguration, limits: RecoveryLimits? = nil,
        conversion: (any PictureConversion)? = nil, onPacket: @escaping PacketHandler
    ) throws {
        let limits = limits ?? .of(display.kind)
        self.limits = limits
        let (device, profile) = try SetUp.retryTransientFaults(limits) { attempt in
            let device = attempt > 1 ? try display.reopened() ?? display : display
            device.watch.limitNanoseconds = limits.pictureNanoseconds
            let profile = try device.watch.run("querying capabilities", on: device.vendor, scale: .setUp) {
                try DeviceCapabilities(device, configuration.encodedCodec)
            }
            return (device, profile)
        }
        self.display = device
        settings = try SettingsResolver.resolve(configuration, on: profile)
        self.conversion = conversion
        handler = onPacket
    }

    deinit { invalidate() }

    package var encoderDescription: EncoderDescription {
        get throws {
            let supervisor = try supervisor()
            let parameterSets = try supervisor.parameterSets
            return EncoderDescription(
                kind: display.kind, path: display.path, driver: display.vendor, codec: settings.profile.codec,
                profile: settings.profile, level: CodecLevel(tenths: settings.level.number),
                tier: settings.level.tier, size: settings.size,
                frameRate: settings.frameRate, effective: supervisor.effective, parameterSets: parameterSets)
        }
    }

    /// The surface size that the encoder needs to read a surface without a copy.
    package var surfaceSize: VideoSize { settings.grid.coded }

    /// The encoder's input surfaces. Prepares the encoder if necessary.
    package var inputSurfaces: InputSurfaces {
        get throws {
            let supervisor = try supervisor()
            let (display, surfaces) = supervisor.state.withLock { ($0.display, $0.pool?.surfaces ?? []) }
            return InputSurfaces(
                display: display, count: surfaces.count, size: settings.grid.coded, visible: settings.inputSize, format: settings.pixelFormat,
                isSlowToRead: surfaces.first?.directMemory == .exported)
        }
    }

    package func prepare() throws { _ = try supervisor() }

    package func makePixelBuffer() throws -> any PixelBuffer { try supervisor().makeBuffer() }

    package func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        try supervisor().encode(buffer, timing: timing, options: options)
    }

    /// Counts a frame whose picture was lost with its device as accepted and dropped.
    ///
    /// - Throws: The errors of `encode`.
    package func drop(_ timing: FrameTiming) throws { try supervisor().drop(timing) }

    package func completeFrames(until time: MediaTime?) throws { try supervisor().complete(until: time) }

    package func invalidateReferences(displayIndices: [Int]) throws {
        try supervisor().invalidateReferences(displayIndices)
    }

    package func change(_ change: RunningChange) throws { try supervisor().change(change) }

    package func check(_ changes: [RunningChange]) throws { try supervisor().rate.check(changes) }

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
                let supervisor = try Supervisor(
                    display, settings, limits: limits, conversion: conversion, handler: handler)
                stage = .prepared(supervisor)
                return supervisor
            }
        }
    }
}
