import EncodePlanning
import VAAPI
import VideoBase

/// The memory of an encoder's input surfaces.
///
/// Drawing in the driver's memory means mapping it, which can be expensive: iHD converts a tiled surface to rows and back
/// at each mapping, and radeonsi copies it. Drawing in the other kinds of memory needs no call of the driver.
struct InputMemory: Sendable {
    enum Kind: String, Sendable, CaseIterable {
        /// The driver's own memory, in the layout that it chooses.
        case driver
        /// The program's memory, which the driver reads in place (USER_PTR).
        case program
        /// The program's memory, in rows without gaps.
        case packed
        /// Linear memory of the driver, which it exports as a DMA-BUF.
        case exported

        /// The name in reports.
        fileprivate var name: String { self == .packed ? Kind.program.rawValue : rawValue }
    }

    let kind: Kind
    /// The reason for the choice.
    let why: String
    /// Whether the surfaces are those of an earlier pipeline.
    var isKept = false

    /// Describes surfaces that were created for an earlier pipeline.
    static func kept(_ surfaces: [Surface]) -> InputMemory {
        let first = surfaces.first
        let kind: Kind = first?.isInUserMemory == true ? .program : first?.isDrawnDirectly == true ? .exported : .driver
        return InputMemory(kind: kind, why: "", isKept: true)
    }

    /// The report entry.
    var entry: EffectiveEntry {
        EffectiveEntry(option: "inputMemory", asked: nil, used: kind.name, why: .explained(why))
    }

    /// Creates the input surfaces of an encoder. One input is filled while the others are in the device, wait for the
    /// device or for a later frame, or are kept until a frame shown before them is delivered.
    static func make(
        _ display: Display, _ settings: EncodeSettings, _ surfaces: SurfaceCapabilities
    ) throws -> (surfaces: [Surface], memory: InputMemory) {
        let count = settings.asyncDepth + settings.queueDepth + 1 + settings.structure.bFrames * 2
        let (kind, reason) = kind(display, surfaces)
        var why = reason
        let isPacked = kind == .program && Surface.hasAvoidableGaps(settings.grid.coded, settings.pixelFormat)
        for kind in isPacked ? [.packed, kind] : [kind] where kind != .driver {
            do {
                if let difference = try InputMemoryTrial.difference(kind, display, settings) {
                    why = difference
                } else {
                    return (try make(kind, display, settings, count: count), InputMemory(kind: kind, why: reason))
                }
            } catch {
                why = "\(error)"
            }
        }
        return (try make(.driver, display, settings, count: count), InputMemory(kind: .driver, why: why))
    }

    /// Creates surfaces in one kind of memory.
    static func make(_ kind: Kind, _ display: Display, _ settings: EncodeSettings, count: Int) throws -> [Surface] {
        let (size, format) = (settings.grid.coded, settings.pixelFormat)
        return switch kind {
        case .driver: try Surface.make(display, count: count, size: size, format: format)
        case .program: try Surface.makeInUserMemory(display, count: count, size: size, format: format)
        case .packed: try Surface.makeInUserMemory(display, count: count, size: size, format: format, hasGaps: false)
        case .exported: try Surface.makeExported(display, count: count, size: size, format: format)
        }
    }

    /// Returns the kind of memory to try, and the reason.
    private static func kind(_ display: Display, _ surfaces: SurfaceCapabilities) -> (Kind, why: String) {
        let vendor = display.vendor
        if Environment.value("VAENC_INPUT_MEMORY") == "driver" { return (.driver, "requested by VAENC_INPUT_MEMORY") }
        if DriverQuirk.uncachedUserMemory.affects(vendor), display.kernelDriver == "xe" {
            return (.driver, "with the kernel driver xe, the driver may read stale memory")
        }
        let isReported = surfaces.memoryTypes.contains(.userPointer) && !DriverQuirk.ignoresUserMemory.affects(vendor)
        if isReported || DriverQuirk.hidesUserMemory.affects(vendor) { return (.program, "the device reads the program's memory") }
        if DriverQuirk.mapsByCopy.affects(vendor), surfaces.memoryTypes.contains(.drmPrime2) {
            return (.exported, "the driver exports linear surfaces")
        }
        return (.driver, "the driver does not read the program's memory")
    }
}
