import EncodePlanning
import Synchronization
import VAAPI
import VideoBase

/// The memory of an encoder's input surfaces: the driver's, or the program's if the driver reads it in place.
///
/// Drawing in the program's memory needs no call of the driver. Mapping the driver's memory can be expensive: iHD
/// converts a tiled surface to rows and back at each mapping.
struct InputMemory: Sendable {
    let isUsers: Bool
    /// The reason for the choice.
    let why: String
    /// Whether the surfaces are those of an earlier pipeline.
    var isKept = false

    /// Describes surfaces that were created for an earlier pipeline.
    static func kept(_ surfaces: [Surface]) -> InputMemory {
        InputMemory(isUsers: surfaces.first?.isInUserMemory ?? false, why: "", isKept: true)
    }

    /// The report entry.
    var entry: EffectiveEntry {
        EffectiveEntry(option: "inputMemory", asked: nil, used: isUsers ? "program" : "driver", why: .explained(why))
    }

    /// Creates the input surfaces of an encoder. One input is filled while the others are in the device, wait for the
    /// device or for a later frame, or are kept until a frame shown before them is delivered.
    static func make(
        _ display: Display, _ settings: EncodeSettings, _ surfaces: SurfaceCapabilities
    ) throws -> (surfaces: [Surface], memory: InputMemory) {
        let count = settings.asyncDepth + settings.queueDepth + 1 + settings.structure.bFrames * 2
        var why = rejectionReason(display, settings, surfaces)
        if why == nil {
            do {
                let surfaces = try Surface.makeInUserMemory(display, count: count, size: settings.grid.coded, format: settings.pixelFormat)
                return (surfaces, InputMemory(isUsers: true, why: "the device reads the program's memory"))
            } catch {
                why = "\(error)"
            }
        }
        let own = try Surface.make(display, count: count, size: settings.grid.coded, format: settings.pixelFormat)
        return (own, InputMemory(isUsers: false, why: why ?? ""))
    }

    /// Returns the reason why the driver's memory is used; nil if the program's memory can be used.
    private static func rejectionReason(_ display: Display, _ settings: EncodeSettings, _ surfaces: SurfaceCapabilities) -> String? {
        if Environment.value("VAENC_INPUT_MEMORY") == "driver" { return "requested by VAENC_INPUT_MEMORY" }
        let isReported = surfaces.memoryTypes.contains(.userPointer) && !DriverQuirk.ignoresUserMemory.affects(display.vendor)
        guard isReported || DriverQuirk.hidesUserMemory.affects(display.vendor) else {
            return "the driver does not read the program's memory"
        }
        if DriverQuirk.uncachedUserMemory.affects(display.vendor), display.kernelDriver == "xe" {
            return "with the kernel driver xe, the driver may read stale memory"
        }
        return display.kind == .reference ? nil : InputMemoryTrial.rejectionReason(display, settings)
    }
}

/// Encodes one picture from the driver's memory and one from the program's. Equal streams show that the driver reads
/// the program's memory correctly. Each driver is tried once for each profile and size.
private enum InputMemoryTrial {
    private struct Key: Hashable {
        var path: String?
        var vendor: String
        var profile: CodecProfile
        var size: VideoSize
    }

    private static let results = Mutex<[Key: String?]>([:])

    static func rejectionReason(_ display: Display, _ settings: EncodeSettings) -> String? {
        let key = Key(path: display.path, vendor: display.vendor, profile: settings.profile, size: settings.grid.coded)
        if let known = results.withLock({ $0[key] }) { return known }
        var reason: String?
        do {
            let size = settings.grid.coded
            let own = try stream(display, settings, Surface.make(display, count: 1, size: size, format: settings.pixelFormat))
            let user = try stream(
                display, settings, Surface.makeInUserMemory(display, count: 1, size: size, format: settings.pixelFormat))
            if own != user { reason = "a picture in the program's memory was coded differently from one in the driver's memory" }
        } catch {
            reason = "\(error)"
        }
        results.withLock { $0[key] = .some(reason) }
        return reason
    }

    /// Returns a key frame of the test picture, as the driver codes it.
    private static func stream(_ display: Display, _ settings: EncodeSettings, _ surfaces: [Surface]) throws -> [UInt8] {
        for surface in surfaces { try unsafe surface.withUnsafePlanes { unsafe draw($0) } }
        let objects = try DeviceObjects(display, settings, inputs: surfaces)
        let inputs = InputPool(surfaces, visible: settings.inputSize)
        return try ParameterSetProbe.keyFrame(
            settings, adapter: settings.adapter(), objects: objects, inputs: inputs,
            timeoutNanoseconds: display.watch.limitNanoseconds
        ).bytes
    }

    /// Draws a pattern that differs in each row and column.
    private static func draw(_ planes: PixelPlanes) {
        let format = unsafe planes.format
        let size = unsafe planes.allocatedSize
        for plane in 0..<format.planeCount {
            for row in 0..<format.rows(plane: plane, height: size.height) {
                // SAFETY: The row lies within the plane.
                let bytes = unsafe planes.base(plane) + row * planes.pitch(plane)
                for column in 0..<format.rowBytes(plane: plane, width: size.width) {
                    let value = UInt8(truncatingIfNeeded: 3 * row &+ 5 * column &+ (row &* column) >> 6)
                    unsafe bytes.storeBytes(of: value, toByteOffset: column, as: UInt8.self)
                }
            }
        }
    }
}
