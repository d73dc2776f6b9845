internal import CVA
internal import Glibc

/// An opened display, with its objects and its calls. Clients may make calls on any thread.
///
/// The monitor guards all objects of the display. Blocking calls wait on it. Encoding and pixel copies run without it.
///
/// SAFETY: `vendor` is set once in `init` and freed in `deinit`, which runs after vaTerminate, when libva does not use
/// it any more.
@safe final class Driver: @unchecked Sendable {
    let capabilities: Capabilities
    let environment: Environment
    let monitor = Monitor()
    /// The vendor string as a C string. libva keeps the pointer while the display is open.
    let vendor: UnsafeMutablePointer<CChar>?

    var configs: ObjectTable<Config>
    var contexts: ObjectTable<Context>
    var surfaces: ObjectTable<Surface>
    var buffers: ObjectTable<Buffer>
    var images: ObjectTable<Image>
    /// The numbers of pictures and copies. The monitor guards them.
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

    /// Finishes the queued pictures, then releases all objects (vaTerminate).
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

    /// Writes the reason of a rejected call to stderr if VAENC_REFERENCE_LOG=1.
    func log(_ refusal: Refusal) {
        guard environment.logs else { return }
        DriverProcess.shared.say("status \(refusal.status): \(refusal.reason)")
    }

    // Lookups of objects by id. The caller must hold the monitor.

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

    /// Waits until no job uses `surface`. Returns false after the deadline. The caller must hold the monitor.
    func wait(for surface: Surface, until deadline: Deadline = .never) -> Bool {
        while !surface.jobs.isEmpty {
            if !monitor.wait(until: deadline), !surface.jobs.isEmpty { return false }
        }
        return true
    }

    /// Waits until `coded` is written. Returns false after the deadline. The caller must hold the monitor.
    func wait(for coded: CodedBuffer, until deadline: Deadline = .never) -> Bool {
        while coded.job != nil {
            if !monitor.wait(until: deadline), coded.job != nil { return false }
        }
        return true
    }
}
