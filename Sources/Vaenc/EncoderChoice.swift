import EncodeSession
import ReferenceDisplay
import SoftwareEncode
import VAAPI
public import VideoBase

/// Which encoder a session got, and why.
public struct EncoderChoice: Sendable, Hashable {
    public var kind: DeviceKind
    /// The render node, nil where there is none.
    public var path: String?
    public var codec: VideoCodec
    /// Why that codec: `asked`, or what `CodecChoice` says.
    public var codecWhy: String
    /// One line for a person where something was decided for the user, else nil.
    public var notice: String?

    /// An encoder that was made, and the choice that it came of.
    typealias Made = (encoder: any VideoEncoder, choice: EncoderChoice)

    /// Makes the encoder that the selector names, or with `auto` the first that can do what is asked.
    static func makeEncoder(
        configuration: EncoderConfiguration, device: DeviceSelector, requireHardware: Bool, handler: @escaping PacketHandler
    ) throws -> Made {
        if requireHardware, device == .software {
            throw VaencError(
                .unavailable, "`requireHardware` refuses the software encoder, which was asked for",
                remedy: "leave out `requireHardware`")
        }
        switch device {
        case .software: return try software(configuration, handler)
        case .reference:
            return try hardware(configuration, kind: .reference, path: nil, handler) { try ReferenceDisplay.open() }
        case .path(let path): return try hardware(path, configuration, handler)
        case .pci(let address):
            guard let node = RenderNode.all().first(where: { $0.pciAddress == address }) else {
                throw VaencError(
                    .unavailable, "there is no GPU with a render node at \(address)", remedy: RenderNode.advice())
            }
            return try hardware(node.path, configuration, handler)
        case .auto:
            return try automatic(configuration, requireHardware: requireHardware, handler: handler)
        }
    }

    private static func software(_ configuration: EncoderConfiguration, _ handler: @escaping PacketHandler) throws -> Made {
        let (codec, why) = CodecChoice.choose(configuration, kind: .software) {
            DeviceReport(kind: .software, usable: true)
        }
        let encoder = try SoftwareEncoder(configuration: configuration.coding(codec), onPacket: handler)
        return (encoder, EncoderChoice(kind: .software, codec: codec, codecWhy: why))
    }

    private static func hardware(_ path: String, _ configuration: EncoderConfiguration, _ handler: @escaping PacketHandler) throws -> Made {
        try hardware(configuration, kind: .vaapi, path: path, handler) { try Display.open(renderNode: path) }
    }

    private static func hardware(
        _ configuration: EncoderConfiguration, kind: DeviceKind, path: String?, _ handler: @escaping PacketHandler,
        open: () throws -> Display
    ) throws -> Made {
        try DriverTrials.proveEncoder(kind, path, configuration)
        let display = try open()
        func make(_ codec: VideoCodec, _ why: String, on display: Display) throws -> Made {
            var coding = configuration.coding(codec)
            // Its surfaces have the depth that is coded: who draws into them converts.
            if !codec.bitDepths.contains(coding.inputFormat.bitDepth) { coding.inputFormat = .nv12 }
            let encoder: HardwareEncoder
            do {
                encoder = try HardwareEncoder(display: display, configuration: coding, onPacket: handler)
            } catch let error as VaencError where error.category == .unavailable && why != CodecChoice.asked {
                throw Self.explained(error, codec, why, DeviceReport(display))
            }
            return (encoder, EncoderChoice(kind: kind, path: path, codec: codec, codecWhy: why))
        }
        let (codec, why) = CodecChoice.choose(configuration, kind: kind) { DeviceReport(display) }
        guard let simpler = codec.fallback, CodecChoice.bound(by: configuration) == nil else { return try make(codec, why, on: display) }
        // What a driver advertises is not what works: proved, as nobody asked for it.
        do {
            let made = try make(codec, why, on: display)
            try made.encoder.prepare()
            return made
        } catch let error as any DescribedError where error.category == .usage {
            throw error
        } catch {
            return try make(simpler, "\(codec.standardName) failed (\(error))", on: try open())
        }
    }

    /// Of a codec that nobody named and the device does not have: with why it was to be that.
    private static func explained(
        _ error: VaencError, _ codec: VideoCodec, _ why: String, _ device: DeviceReport
    ) -> VaencError {
        if device.capabilities.contains(where: { $0.encodes && $0.codec == codec.rawValue }) { return error }
        var error = error
        error.message += " (\(codec.standardName) is needed: \(why))"
        return error
    }

    /// The first render node whose driver encodes what is asked, proved by preparing it; else software.
    private static func automatic(
        _ configuration: EncoderConfiguration, requireHardware: Bool, handler: @escaping PacketHandler
    ) throws -> Made {
        var failures: [any Error] = []
        let nodes = RenderNode.all()
        for node in nodes {
            do {
                let made = try hardware(node.path, configuration, handler)
                try made.encoder.prepare()
                return made
            } catch let error as any DescribedError where error.category == .usage {
                // The request is wrong on every device.
                throw error
            } catch {
                // No software encoder can be loaded either.
                if (error as? VAError)?.status == .timedOut, Display.isLoaderStuck { throw error }
                failures.append(error)
            }
        }
        let why = failures.first.map { "\($0)" } ?? "there is no render node in /dev/dri"
        if requireHardware {
            if let error = failures.first { throw error }
            throw VaencError(.unavailable, "no hardware encoder: \(why)", remedy: "leave out `requireHardware`, or use `device: .reference`")
        }
        var made = try software(configuration, handler)
        let name = made.choice.codec.softwareLibrary.rawValue
        made.choice.notice = "no hardware encoder (\(why)): encoding in software with \(name)"
        return made
    }
}

extension EncoderChoice {
    /// The encoder's description with what the encoder does not know: who chose the codec, and wishes that it passes over.
    ///
    /// - Throws: `unavailable` where the configuration is strict and a wish is passed over.
    func completed(_ description: EncoderDescription, _ asked: EncoderConfiguration) throws -> EncoderDescription {
        var description = description
        let codec = description.codec.rawValue
        var added: [EffectiveEntry] = []
        func add(_ entry: EffectiveEntry) {
            if description.effective.contains(where: { $0.option == entry.option }) { return }
            added.append(entry)
        }
        func add(_ option: String, _ value: some CustomStringConvertible) {
            add(EffectiveEntry(option: option, asked: value.description, used: value.description, why: "as asked"))
        }
        let format = EffectiveEntry.pixelFormat(
            asked.inputFormat.rawValue, depth: asked.inputFormat.bitDepth,
            used: description.profile.bitDepth > 8 ? .p010 : .nv12, codec: description.codec)
        if let format { add(format) }
        if let display = asked.masteringDisplay {
            add("masteringDisplay", display)
        }
        if let light = asked.contentLight {
            add("contentLight", light)
        }
        if asked.strict, let error = added.strictError { throw error }
        description.effective.removeAll { $0.option == "codec" }
        let entry = EffectiveEntry(
            option: "codec", asked: codecWhy == CodecChoice.asked ? codec : nil, used: codec, why: codecWhy)
        description.effective = [entry] + description.effective + added
        return description
    }
}

extension EncoderConfiguration {
    /// With the codec that was chosen, where none is wanted.
    func coding(_ codec: VideoCodec) -> EncoderConfiguration {
        var result = self
        result.codec = codec
        return result
    }
}

extension VideoCodec {
    /// The codec to use if a device fails with this one and nobody asked for it; nil: the failure is an error.
    fileprivate var fallback: VideoCodec? {
        switch self {
        case .h264: nil
        case .hevc: .h264
        }
    }
}
