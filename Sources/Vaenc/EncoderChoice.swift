import EncodeSession
import ReferenceDisplay
import SoftwareEncode
import VAAPI
public import VideoBase

/// The encoder that a session uses, and the reason for the choice.
public struct EncoderChoice: Sendable, Hashable {
    /// The type of the device.
    public var kind: DeviceKind
    /// The path of the render node; nil if the encoder has none.
    public var path: String?
    /// The codec of the session.
    public var codec: VideoCodec
    /// The reason for the codec.
    public var codecReason: CodecReason
    /// A notice of one line if the session made a choice that the user should know about; nil otherwise.
    public var notice: String?

    /// An encoder, and the choice that led to it.
    typealias ChosenEncoder = (encoder: any VideoEncoder, choice: EncoderChoice)

    /// Creates the encoder that the selector selects. `auto` selects the first device that supports the request, else
    /// software.
    ///
    /// - Parameter shared: The display to use if the selected device is that of the display; nil opens another one.
    static func makeEncoder(
        configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool, shared: Display? = nil,
        handler: @escaping PacketHandler
    ) throws -> ChosenEncoder {
        var configuration = configuration
        if configuration.inputFormat.isRGB {
            let color = configuration.display.color
            configuration.display.color = color.ofRGBAsYUV(rows: configuration.size.height, asked: color)
        }
        if configuration.inputFormat == .gray, configuration.display.color.fullRange == nil { configuration.display.color.fullRange = true }
        if requireHardware, device == .software {
            throw VaencError(
                .unavailable, "`requireHardware` does not allow the requested software encoder",
                remedy: "leave out `requireHardware`")
        }
        guard requireHardware else {
            return try selected(device, configuration: configuration, requireHardware: false, shared: shared, handler: handler)
        }
        do {
            return try selected(device, configuration: configuration, requireHardware: true, shared: shared) { result in
                handler(result.mapError { HardwareRequirement.advised($0) })
            }
        } catch { throw HardwareRequirement.advised(error) }
    }

    private static func selected(
        _ device: DeviceSelector, configuration: EncoderConfiguration, requireHardware: Bool, shared: Display?,
        handler: @escaping PacketHandler
    ) throws -> ChosenEncoder {
        switch device {
        case .software: return try software(configuration, handler)
        case .reference:
            return try hardware(configuration, kind: .reference, path: nil, shared: shared, handler) { try ReferenceDisplay.open() }
        case .path(let path): return try hardware(path, configuration: configuration, shared: shared, handler: handler)
        case .pci(let address):
            guard let node = RenderNode.all().first(where: { $0.pciAddress == address }) else {
                throw VaencError(
                    .unavailable, "there is no GPU with a render node at PCI address \(address)",
                    remedy: RenderNode.advice())
            }
            return try hardware(node.path, configuration: configuration, shared: shared, handler: handler)
        case .auto:
            return try automatic(configuration, requireHardware: requireHardware, shared: shared, handler: handler)
        }
    }

    private static func software(
        _ configuration: EncoderConfiguration, _ handler: @escaping PacketHandler
    ) throws -> ChosenEncoder {
        let (codec, why) = CodecChoice.choose(configuration, kind: .software) {
            DeviceReport(kind: .software, usable: true)
        }
        let encoder = try SoftwareEncoder(configuration: configuration.coding(codec), onPacket: handler)
        return (encoder, EncoderChoice(kind: .software, codec: codec, codecReason: why))
    }

    private static func hardware(
        _ path: String, configuration: EncoderConfiguration, shared: Display?, handler: @escaping PacketHandler
    ) throws -> ChosenEncoder {
        try hardware(configuration, kind: .vaapi, path: path, shared: shared, handler) { try Display.open(renderNode: path) }
    }

    private static func hardware(
        _ configuration: EncoderConfiguration, kind: DeviceKind, path: String?, shared: Display?,
        _ handler: @escaping PacketHandler, open: () throws -> Display
    ) throws -> ChosenEncoder {
        try DriverTrials.tryEncoder(kind, path, configuration)
        let usable = shared.flatMap { $0.kind == kind && $0.path == path && !$0.watch.isHung ? $0 : nil }
        let display = try usable ?? open()
        func make(_ codec: VideoCodec, _ why: CodecReason, on display: Display) throws -> ChosenEncoder {
            var coding = configuration.coding(codec)
            // Surfaces have the coded depth. The code that draws into them converts the samples.
            if !codec.bitDepths.contains(coding.inputFormat.bitDepth) {
                let entry = EffectiveEntry.pixelFormat(
                    coding.inputFormat.rawValue, depth: coding.inputFormat.bitDepth, used: .nv12, codec: codec)
                if coding.strict, let error = [entry].compactMap({ $0 }).strictError { throw error }
                coding.inputFormat = .nv12
            }
            let encoder: HardwareEncoder
            do {
                encoder = try HardwareEncoder(
                    display: display, configuration: coding, conversion: FrameConversion(color: coding.display.color),
                    onPacket: handler)
            } catch let error as VaencError where error.category == .unavailable && why != .requested {
                throw Self.explained(error, codec: codec, why: why, device: DeviceReport(display))
            }
            return (encoder, EncoderChoice(kind: kind, path: path, codec: codec, codecReason: why))
        }
        let (codec, why) = CodecChoice.choose(configuration, kind: kind) { DeviceReport(display) }
        guard let simpler = codec.fallback, CodecChoice.codec(determinedBy: configuration) == nil else { return try make(codec, why, on: display) }
        // A driver may advertise a codec that does not work. The user did not request this codec, so it is tried first.
        do {
            let chosen = try make(codec, why, on: display)
            try chosen.encoder.prepare()
            return chosen
        } catch let error as any DescribedError where error.category == .usage {
            throw error
        } catch {
            return try make(simpler, .decided("\(codec.standardName) failed (\(error))"), on: try open())
        }
    }

    /// Adds the reason for the codec to an error, if the codec was not requested and the device does not support it.
    private static func explained(
        _ error: VaencError, codec: VideoCodec, why: CodecReason, device: DeviceReport
    ) -> VaencError {
        if device.capabilities.contains(where: { $0.encodes && $0.codec == codec }) { return error }
        var error = error
        error.message += " (\(codec.standardName) is needed: \(why))"
        return error
    }

    /// Creates an encoder on the first render node whose driver supports the request, which preparing the encoder
    /// verifies; else in software.
    private static func automatic(
        _ configuration: EncoderConfiguration, requireHardware: Bool, shared: Display?, handler: @escaping PacketHandler
    ) throws -> ChosenEncoder {
        var failures: [any Error] = []
        let nodes = RenderNode.all()
        for node in nodes {
            do {
                let chosen = try hardware(node.path, configuration: configuration, shared: shared, handler: handler)
                try chosen.encoder.prepare()
                return chosen
            } catch let error as any DescribedError where error.category == .usage {
                // The request is wrong on every device.
                throw error
            } catch {
                // If the loader is stuck, no software encoder can be loaded either.
                if (error as? VAError)?.status == .timedOut, Display.isLoaderStuck { throw error }
                failures.append(error)
            }
        }
        let why = failures.first.map { "\($0)" } ?? "there is no render node in /dev/dri"
        if requireHardware {
            if let error = failures.first { throw error }
            throw VaencError(.unavailable, "no hardware encoder: \(why)", remedy: "leave out `requireHardware`")
        }
        var chosen = try software(configuration, handler)
        let name = chosen.choice.codec.softwareLibrary.rawValue
        chosen.choice.notice = "no hardware encoder (\(why)): encoding in software with \(name)"
        return chosen
    }
}

extension EncoderChoice {
    /// Returns the encoder's description with entries that do not come from the encoder: the reason for the codec, and
    /// requests that the encoder ignores.
    ///
    /// - Throws: `unavailable` if the configuration is strict and a request is ignored.
    func completed(_ description: EncoderDescription, _ asked: EncoderConfiguration) throws -> EncoderDescription {
        var description = description
        let codec = description.codec.rawValue
        var added: [EffectiveEntry] = []
        func add(_ entry: EffectiveEntry) {
            if description.effective.contains(where: { $0.option == entry.option }) { return }
            added.append(entry)
        }
        func add(_ option: String, _ value: some CustomStringConvertible) {
            add(EffectiveEntry(option: option, asked: value.description, used: value.description, why: .requested))
        }
        let format = EffectiveEntry.pixelFormat(
            asked.inputFormat.rawValue, depth: asked.inputFormat.bitDepth,
            used: description.profile.bitDepth > 8 ? .p010 : .nv12, codec: description.codec)
        if let format { add(format) }
        if let display = asked.display.masteringDisplay {
            add("masteringDisplay", display)
        }
        if let light = asked.display.contentLight {
            add("contentLight", light)
        }
        if asked.strict, let error = added.strictError { throw error }
        description.effective.removeAll { $0.option == "codec" }
        let entry = EffectiveEntry(
            option: "codec", asked: codecReason == .requested ? codec : nil, used: codec, why: codecReason.settingReason)
        description.effective = [entry] + description.effective + added
        return description
    }
}

extension EncoderConfiguration {
    /// Returns the configuration with `codec` as the requested codec.
    func coding(_ codec: VideoCodec) -> EncoderConfiguration {
        var result = self
        result.codec = codec
        return result
    }
}

extension VideoCodec {
    /// The codec to use if a device fails with this one, which was not requested; nil: the failure is an error.
    fileprivate var fallback: VideoCodec? {
        switch self {
        case .h264: nil
        case .hevc: .h264
        }
    }
}
