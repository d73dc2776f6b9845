import DecodeSession
import LibAV
public import MediaFiles
public import VAAPI
import VideoBase

/// Has a device decode an input, where it can.
public final class InputDecoding {
    public let source: any FrameSource
    private let chosen: DecodeBackend
    private let decoder: ResilientDecoder?
    /// On the device that decodes; nil where pictures are scaled in memory, or there is none.
    private let scaling: InputScaling?
    private var given = 0
    /// Has the encoder's device read a camera's pictures in place, or why it does not; nil for other inputs.
    private let camera: (import: CameraImport?, why: String)?
    /// Several sessions copy each picture.
    private var isShared = false

    /// Takes the decoding of a source over, before its first picture is read.
    ///
    /// - Parameters:
    ///   - device: `auto` takes the first render node whose driver decodes the input, else libavcodec.
    ///   - requireHardware: to decode in software is an error.
    /// - Throws: `unavailable` for a device that is not there, or does not decode where it is required; what devices fail with.
    public convenience init(
        _ source: any FrameSource, on device: DeviceSelector = .auto, requireHardware: Bool = false
    ) throws {
        guard let codec = (source as? DecodingSource)?.codec else {
            let why = Self.otherInput(source)
            if requireHardware {
                throw VaencError(.unavailable, "no device decodes the input: \(why)", remedy: "leave out `requireHardware`")
            }
            _ = try DecodeBackend.displays(device)
            self.init(source, .software(why))
            return
        }
        let (device, place) = try DecodeBackend.choose(
            device, codec, bitDepth: source.info.bitDepth, requireHardware: requireHardware)
        if let device {
            try self.init(source, on: device, scaling: .intoMemory(source.info, from: device))
        } else {
            self.init(source, place)
        }
    }

    init(_ source: any FrameSource, _ place: DecodeBackend) {
        self.source = source
        chosen = place
        (decoder, scaling) = (nil, nil)
        camera = nil
    }

    init(camera source: CameraSource, for group: SessionGroup) {
        self.source = source
        chosen = .software(Self.otherInput(source))
        (decoder, scaling) = (nil, nil)
        camera = source.import(for: group)
        isShared = group.sessions.count > 1
    }

    /// - Parameter scaling: for pictures that have not the size that the source says.
    init(_ source: any FrameSource, on device: DecodeDevice, scaling: InputScaling? = nil) throws {
        self.source = source
        self.scaling = scaling
        chosen = .device(device.display)
        var made: ResilientDecoder?
        try unsafe (source as? DecodingSource)?.decode { codec, parameters, timeBase in
            let stream = unsafe DecoderStream(codec, parameters: parameters, timeBase: timeBase)
            let decoder = unsafe try ResilientDecoder(stream, on: device, renewed: { try device.display.reopened() })
            made = decoder
            return decoder
        }
        decoder = made
        camera = nil
    }

    /// The input has to be decoded.
    public var isCompressed: Bool { source is DecodingSource }

    /// Why no device is asked for an input.
    static func otherInput(_ source: any FrameSource) -> String {
        source is DecodingSource ? "devices decode H.264 and HEVC alone here" : "the input is not compressed"
    }

    /// The next picture in a buffer, and its time; nil at the end. A picture on the device stays there, or is scaled there to the
    /// size that the source says; another one is drawn into a buffer of `makeBuffer`, which must have that size.
    ///
    /// - Throws: what `FrameSource.readFrame` throws, and what `makeBuffer` does.
    public func nextFrame(
        makeBuffer: () throws -> any PixelBuffer
    ) throws -> (buffer: any PixelBuffer, timing: FrameTiming)? {
        let frame = try readFrame(makeBuffer)
        if frame != nil { given += 1 }
        return frame
    }

    private func readFrame(
        _ makeBuffer: () throws -> any PixelBuffer
    ) throws -> (buffer: any PixelBuffer, timing: FrameTiming)? {
        if decoder != nil, let input = source as? DecodingSource {
            return try input.readBuffer(taken: buffer, makeBuffer: makeBuffer)
        }
        if let pictures = camera?.import, let input = source as? CameraSource {
            return try input.readBuffer(taken: pictures.buffer, makeBuffer: makeBuffer)
        }
        if isShared, let input = source as? CameraSource {
            // Each session copies the camera's own picture, where that costs no more than to copy another.
            return try input.readBuffer(
                taken: { [.nv12, .i420].contains($0.format) ? $0 : nil }, makeBuffer: makeBuffer)
        }
        let buffer = try makeBuffer()
        // SAFETY: the source writes only inside the planes, which are mapped while the closure runs.
        let timing = unsafe try buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
        return timing.map { (buffer, $0) }
    }

    /// The picture as it lies on the device, or scaled there; nil where that is to be done in memory.
    private func buffer(of picture: DecodedPicture, _ parts: FittedParts) throws -> (any PixelBuffer)? {
        guard let device = decoder?.device else { return nil }
        if picture.size == source.info.size { return try device.buffer(of: picture) }
        return scaling?.buffer(of: picture, parts, on: device)
    }

    /// Where pictures are decoded, as far as it is known yet: a device may turn out not to take the stream.
    public var place: DecodeBackend {
        if case .software(let why)? = decoder?.way { return .software(why) }
        return chosen
    }

    /// Where pictures are brought to the size asked for, and why there; nil where they have it already.
    public var scaledAt: EffectiveEntry? {
        let onDevice = scaling?.scaled ?? 0
        if source.info.size == source.info.nativeSize, onDevice == 0 { return nil }
        let reason = scaling?.refusal ?? memoryReason
        if onDevice == 0 { return EffectiveEntry(option: "scaling", asked: nil, used: "software", why: reason) }
        let rest = given - onDevice
        return EffectiveEntry(
            option: "scaling", asked: nil, used: "device",
            why: "by its video processor" + (rest == 0 ? "" : ", but \(rest) of \(given) pictures in memory: \(reason)"))
    }

    private var memoryReason: String {
        if !isCompressed { return "the input is not compressed" }
        if place.kind == .software { return "pictures are decoded in memory" }
        return "pictures are deinterlaced in memory"
    }

    /// Whether a camera's pictures were read by the device where the camera's driver had put them, or copied, and why; nil of other
    /// inputs.
    public var captureMemory: EffectiveEntry? {
        guard let camera else { return nil }
        let account = camera.import?.account
        let why = account?.refusal ?? camera.why
        let (imported, copied) = (account?.imported ?? 0, account?.copied ?? 0)
        if imported == 0 { return EffectiveEntry(option: "captureMemory", asked: nil, used: "mmap-copied", why: why) }
        let rest = copied == 0 ? "" : ", \(copied) copied while the encoder held the camera's buffers"
        return EffectiveEntry(
            option: "captureMemory", asked: nil, used: "dmabuf-import", why: "the device read \(imported) pictures in place\(rest)")
    }
}
