import DecodeSession
import LibAV
public import MediaFiles
public import VAAPI
import VideoBase

/// Reads the pictures of an input, and decodes them on a device if possible. One thread at a time.
public final class InputDecoding {
    /// The source of the pictures.
    public let source: any FrameSource
    private let chosen: DecodeBackend
    private let decoder: ResilientDecoder?
    /// The scaler on the device that decodes; nil if pictures are scaled in memory or need no scaling.
    private let scaling: InputScaling?
    private var delivered = 0
    /// The object that imports a camera's pictures, or the reason why they are copied; nil for other inputs.
    private let camera: (import: CameraImport?, why: String)?
    /// Whether several sessions copy each picture.
    private var isCopiedTwice = false

    /// Takes over the decoding of a source. Call this initializer before the source's first picture is read.
    ///
    /// - Parameters:
    ///   - source: The input.
    ///   - device: The device that decodes. `auto` uses the first render node whose driver decodes the input, else
    ///     libavcodec.
    ///   - requireHardware: Whether decoding in software is an error.
    /// - Throws: `unavailable` if the device does not exist, or if hardware is required and the device does not decode
    ///   the input; errors of the device.
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
        let (device, backend) = try DecodeBackend.choose(
            device, codec, bitDepth: source.info.bitDepth, requireHardware: requireHardware)
        if let device {
            try self.init(source, on: device, scaling: .intoMemory(source.info, from: device))
        } else {
            self.init(source, backend)
        }
    }

    init(_ source: any FrameSource, _ backend: DecodeBackend) {
        self.source = source
        chosen = backend
        (decoder, scaling) = (nil, nil)
        camera = nil
    }

    init(camera source: CameraSource, for group: SessionGroup) {
        self.source = source
        chosen = .software(Self.otherInput(source))
        (decoder, scaling) = (nil, nil)
        camera = source.makeImporter(for: group)
        isCopiedTwice = group.sessions.count > 1 && !group.isCopyFree
    }

    /// - Parameter scaling: The scaler for pictures whose size differs from the size that the source reports.
    init(_ source: any FrameSource, on device: DecodeDevice, scaling: InputScaling? = nil) throws {
        self.source = source
        self.scaling = scaling
        chosen = .device(device.display)
        var created: ResilientDecoder?
        try unsafe (source as? DecodingSource)?.decode { codec, parameters, timeBase in
            let stream = unsafe DecoderStream(codec, parameters: parameters, timeBase: timeBase)
            let decoder = unsafe try ResilientDecoder(stream, on: device, renewed: { try device.display.reopened() })
            created = decoder
            return decoder
        }
        decoder = created
        camera = nil
    }

    /// Whether the input has to be decoded.
    public var isCompressed: Bool { source is DecodingSource }

    /// Returns the reason why no device decodes an input.
    static func otherInput(_ source: any FrameSource) -> String {
        source is DecodingSource ? "vaenc uses a device to decode only H.264 and HEVC" : "the input is not compressed"
    }

    /// Returns the next picture in a buffer, with its time; nil at the end. Blocks on the input.
    ///
    /// A picture on the device stays there, and is scaled there to the size that the source reports. Any other picture
    /// is drawn into a buffer of `makeBuffer`, which must have that size.
    ///
    /// - Throws: The errors of `FrameSource.readFrame` and `makeBuffer`.
    public func nextFrame(
        makeBuffer: () throws -> any PixelBuffer
    ) throws -> (buffer: any PixelBuffer, timing: FrameTiming)? {
        let frame = try readFrame(makeBuffer)
        if frame != nil { delivered += 1 }
        return frame
    }

    private func readFrame(
        _ makeBuffer: () throws -> any PixelBuffer
    ) throws -> (buffer: any PixelBuffer, timing: FrameTiming)? {
        if decoder != nil, let input = source as? DecodingSource {
            return try input.readBuffer(wrap: buffer, makeBuffer: makeBuffer)
        }
        if let pictures = camera?.import, let input = source as? CameraSource {
            return try input.readBuffer(wrap: pictures.buffer, makeBuffer: makeBuffer)
        }
        if isCopiedTwice, let input = source as? CameraSource {
            // Each session copies the camera's own picture, if this is as fast as copying from another buffer.
            return try input.readBuffer(
                wrap: { [.nv12, .i420].contains($0.format) ? $0 : nil }, makeBuffer: makeBuffer)
        }
        let buffer = try makeBuffer()
        // SAFETY: the source writes only inside the planes, which are mapped while the closure runs.
        let timing = unsafe try buffer.withUnsafePlanes { unsafe try source.readFrame(into: $0) }
        return timing.map { (buffer, $0) }
    }

    /// Returns the picture's own surface, or a scaled copy on the device; nil if the picture must be scaled in memory.
    private func buffer(of picture: DecodedPicture, _ parts: FittedParts) throws -> (any PixelBuffer)? {
        guard let device = decoder?.device else { return nil }
        if picture.size == source.info.size { return try device.buffer(of: picture) }
        return scaling?.buffer(of: picture, parts, on: device)
    }

    /// The device or library that decodes. It can change: a device may reject the stream when the first picture is
    /// decoded.
    public var backend: DecodeBackend {
        if case .software(let why)? = decoder?.backend { return .software(why) }
        return chosen
    }

    /// A report entry that says where pictures are scaled, and why; nil if no picture needs scaling.
    public var scaledAt: EffectiveEntry? {
        let onDevice = scaling?.scaled ?? 0
        if source.info.size == source.info.nativeSize, onDevice == 0 { return nil }
        let reason = scaling?.rejectionReason ?? memoryReason
        if onDevice == 0 { return EffectiveEntry(option: "scaling", asked: nil, used: "software", why: .explained(reason)) }
        let rest = delivered - onDevice
        return EffectiveEntry(
            option: "scaling", asked: nil, used: "device",
            why: """
                by its video processor\
                \(rest == 0 ? "" : ", but the CPU scaled \(rest) of \(delivered) pictures: \(reason)")
                """)
    }

    private var memoryReason: String {
        if !isCompressed { return "the input is not compressed" }
        if backend.kind == .software { return "the CPU decodes the pictures" }
        return "the CPU deinterlaces the pictures"
    }

    /// A report entry that says whether the device reads a camera's pictures in place or copies are made, and why; nil
    /// for other inputs.
    public var captureMemory: EffectiveEntry? {
        guard let camera else { return nil }
        let account = camera.import?.account
        let why = account?.rejectionReason ?? camera.why
        let (imported, copied) = (account?.imported ?? 0, account?.copied ?? 0)
        if imported == 0 { return EffectiveEntry(option: "captureMemory", asked: nil, used: "mmap-copied", why: .explained(why)) }
        let rest = copied == 0 ? "" : ", \(copied) copied while the encoder held the camera's buffers"
        return EffectiveEntry(
            option: "captureMemory", asked: nil, used: "dmabuf-import",
            why: "the device read \(imported) pictures in place\(rest)")
    }
}
