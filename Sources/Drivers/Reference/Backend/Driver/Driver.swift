internal import CVA
internal import Glibc

/// One opened display: its objects and its calls. Every call may come from any thread.
///
/// SAFETY: `vendor` is set once and freed with the object, which libva lets go of in vaTerminate.
///
/// The monitor guards all objects of the display; blocking calls wait on it, encoding and pixel copies run outside.
@safe final class Driver: @unchecked Sendable {
    let capabilities: Capabilities
    let environment: Environment
    let monitor = Monitor()
    /// The vendor's name as C wants it, for as long as the display is open: libva keeps the pointer.
    let vendor: UnsafeMutablePointer<CChar>?

    var configs: ObjectTable<Config>
    var contexts: ObjectTable<Context>
    var surfaces: ObjectTable<Surface>
    var buffers: ObjectTable<Buffer>
    var images: ObjectTable<Image>
    /// Guarded by the monitor.
    let counts = CopyCounts()

    init(capabilities: Capabilities, environment: Environment) {
        self.capabilities = capabilities
        self.environment = environment
        unsafe vendor = strdup(capabilities.vendor)
        let display = DriverProcess.shared.nextDisplay()
        configs = ObjectTable(kind: 1, seed: display)
        contexts = ObjectTable(kind: 2, seed: display)
        surfaces = ObjectTable(kind: 4, seed: display)
        buffers = ObjectTable(kind: 8, seed: display)
        images = ObjectTable(kind: 10, seed: display)
    }

    deinit { unsafe free(vendor) }

    /// vaTerminate: finishes what is queued, then lets go of everything.
    func terminate() {
        let running = monitor.withLock {
            defer { contexts.removeAll() }
            return contexts.all
        }
        for context in running { context.finish() }
        monitor.withLock {
            if let path = environment.countsPath { counts.append(to: path) }
            images.removeAll()
            buffers.removeAll()
            surfaces.removeAll()
            configs.removeAll()
        }
    }

    /// Says on stderr why a call was refused, where the user asked for that.
    func log(_ refusal: Refusal) {
        guard environment.logs else { return }
        DriverProcess.shared.say("status \(refusal.status): \(refusal.reason)")
    }

    // Lookups; the monitor is held.

    func config(_ id: VAConfigID) throws -> Config {
        guard let config = configs[id] else {
            throw Refusal(VA_STATUS_ERROR_INVALID_CONFIG, "config \(id) does not exist")
        }
        return config
    }

    func context(_ id: VAContextID) throws -> Context {
        guard let context = contexts[id] else {
            throw Refusal(VA_STATUS_ERROR_INVALID_CONTEXT, "context \(id) does not exist")
        }
        return context
    }

    func surface(_ id: VASurfaceID) throws -> Surface {
        guard let surface = surfaces[id] else {
            throw Refusal(VA_STATUS_ERROR_INVALID_SURFACE, "surface \(id) does not exist")
        }
        return surface
    }

    func buffer(_ id: VABufferID) throws -> Buffer {
        guard let buffer = buffers[id] else {
            throw Refusal(VA_STATUS_ERROR_INVALID_BUFFER, "buffer \(id) does not exist")
        }
        return buffer
    }

    func image(_ id: VAImageID) throws -> Image {
        guard let image = images[id] else { throw Refusal(VA_STATUS_ERROR_INVALID_IMAGE, "image \(id) does not exist") }
        return image
    }

    /// With the monitor held: waits until `surface` is idle. False after the deadline.
    func wait(for surface: Surface, until deadline: Deadline = .never) -> Bool {
        while !surface.jobs.isEmpty {
            if !monitor.wait(until: deadline), !surface.jobs.isEmpty { return false }
        }
        return true
    }

    /// With the monitor held: waits until `coded` is written. False after the deadline.
    func wait(for coded: CodedBuffer, until deadline: Deadline = .never) -> Bool {
        while coded.job != nil {
            if !monitor.wait(until: deadline), coded.job != nil { return false }
        }
        return true
    }
}
