import H264Syntax
import Synchronization
package import VAAPI
package import VideoBase

/// H.264 on a VA-API device, behind the session protocol of every encoder.
///
/// `init` settles the configuration and asks the driver; `prepare` makes the device's objects, and so does the first
/// call that needs them. Frames are planned and submitted on the caller's thread; packets are waited for and delivered
/// on the encoder's own. The handler must not call back into the encoder. Dropped or invalidated, the encoder waits
/// for what the device has, with a time limit, and frees everything.
package final class HardwareEncoder: VideoEncoder {
    private enum Stage {
        case open
        case prepared(EncodePipeline)
        case invalidated
    }

    private let display: Display
    private let settings: EncodeSettings
    private let handler: PacketHandler
    private let stage = Mutex(Stage.open)

    /// - Parameters:
    ///   - display: the device; kept until the encoder is gone.
    ///   - onPacket: called on the encoder's thread, in decoding order; an error comes last, and once.
    /// - Throws: `usage` for values out of range, `unavailable` for what the device cannot do, a `VAError` where it
    ///   does not answer.
    package init(display: Display, configuration: EncoderConfiguration, onPacket: @escaping PacketHandler) throws {
        self.display = display
        settings = try SettingsResolver.resolve(configuration, on: DeviceProfile(display))
        handler = onPacket
    }

    deinit { invalidate() }

    package var encoderDescription: EncoderDescription {
        get throws {
            let parameterSets = try pipeline().assembler.withLock { $0.parameterSets }
            return EncoderDescription(
                kind: display.kind, path: display.path, driver: display.vendor, codec: .h264,
                profile: settings.profile, level: settings.level.name, size: settings.size,
                frameRate: settings.frameRate, effective: settings.effective, parameterSets: parameterSets)
        }
    }

    package func prepare() throws { _ = try pipeline() }

    package func makePixelBuffer() throws -> any PixelBuffer { try InputBuffer(from: pipeline().inputs) }

    package func encode(_ buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws {
        try pipeline().encode(buffer, timing: timing, options: options)
    }

    package func completeFrames(until time: MediaTime?) throws { try pipeline().complete(until: time) }

    package func invalidate() {
        let last: EncodePipeline? = stage.withLock { stage in
            defer { stage = .invalidated }
            if case .prepared(let pipeline) = stage { return pipeline }
            return nil
        }
        last?.close()
    }

    package var pendingFrameCount: Int {
        stage.withLock { stage in
            if case .prepared(let pipeline) = stage { pipeline.state.withLock { $0.pending.count } } else { 0 }
        }
    }

    private func pipeline() throws -> EncodePipeline {
        try stage.withLock { stage in
            switch stage {
            case .prepared(let pipeline): return pipeline
            case .invalidated: throw EncodePipeline.closed
            case .open:
                let pipeline = try EncodePipeline(display, settings, handler: handler)
                stage = .prepared(pipeline)
                return pipeline
            }
        }
    }
}
