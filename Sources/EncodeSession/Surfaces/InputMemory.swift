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
        /// The program's memory, which the driver imports as a DMA-BUF of the kernel's udmabuf device.
        case udmabuf

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
        let kind: Kind =
            switch surfaces.first?.directMemory {
            case .userPointer: .program
            case .exported: .exported
            case .udmabuf: .udmabuf
            case nil: .driver
            }
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
        let plan = Plan(display, surfaces, refused: settings.refusedMemory)
        var refusals = plan.refusals
        for (kind, reason) in plan.candidates {
            let isPacked = kind == .program && Surface.hasAvoidableGaps(settings.grid.coded, settings.pixelFormat)
            var refusal = ""
            for kind in isPacked ? [.packed, kind] : [kind] {
                do {
                    if let difference = try InputMemoryTrial.difference(kind, display, settings) {
                        refusal = difference
                    } else {
                        let surfaces = try make(kind, display, settings, count: count)
                        return (surfaces, InputMemory(kind: kind, why: ([reason] + refusals).joined(separator: "; ")))
                    }
                } catch {
                    refusal = "\(error)"
                }
            }
            refusals.append("\(kind.name): \(refusal)")
        }
        let why = refusals.isEmpty ? plan.driversMemory : refusals.joined(separator: "; ")
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
        case .udmabuf: try Surface.makeInUDMABuffers(display, count: count, size: size, format: format)
        }
    }
}
