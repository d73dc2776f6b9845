internal import Threads
internal import VideoBase

/// The mapping of a drawn surface that several encoders read. The first encoder that passes the surface to the device
/// ends the mapping; the others wait until it has ended.
final class SharedMapping: Sendable {
    private enum Stage {
        case open(readers: Int)
        case ending
        case ended
        case failed(any Error)
    }

    private let mapping: SurfaceMapping
    private let stage: Monitor<Stage>

    init(_ mapping: SurfaceMapping) {
        self.mapping = mapping
        stage = Monitor(mapping.isOpen ? .open(readers: 0) : .ended)
    }

    /// Whether the drawn samples may not have reached the surface: ending the mapping failed or has not returned yet.
    var isLost: Bool {
        stage.withLockWithoutNotifying { stage in
            switch stage {
            case .open, .ended: false
            case .ending, .failed: true
            }
        }
    }

    /// Passes the drawn samples to the surface. Blocks while `read` runs on another thread, and while another thread
    /// ends the mapping. Does nothing if the mapping has ended.
    ///
    /// - Throws: The error of the thread that ended the mapping; a `VAError` of status `.timedOut` if that thread does
    ///   not return within the device's time limit.
    func end() throws {
        let isFirst = try settled { stage -> Bool? in
            switch stage {
            case .open(readers: 0):
                stage = .ending
                return true
            case .open, .ending: return nil
            case .ended: return false
            case .failed(let error): throw error
            }
        }
        guard isFirst else { return }
        do {
            try mapping.end()
            stage.withLock { $0 = .ended }
        } catch {
            // Samples in the program's memory are still there, and other encoders can read them.
            let isLost = mapping.isLost
            stage.withLock { $0 = isLost ? .failed(error) : .open(readers: 0) }
            throw error
        }
    }

    /// Calls `body` with the drawn samples. Returns nil if the mapping has ended: the samples are then in the surface.
    ///
    /// - Throws: The errors of `end` and `body`.
    func read<R>(_ body: (PixelPlanes) throws -> R) throws -> R? {
        let isOpen = try settled { stage -> Bool? in
            switch stage {
            case .open(let readers):
                stage = .open(readers: readers + 1)
                return true
            case .ending: return nil
            case .ended: return false
            case .failed(let error): throw error
            }
        }
        guard isOpen else { return nil }
        defer {
            stage.withLock { stage in
                if case .open(let readers) = stage { stage = .open(readers: readers - 1) }
            }
        }
        return unsafe try mapping.withUnsafePlanes(body)
    }

    /// Waits until `body` returns a result. Stops waiting if the device hangs: the thread that ends the mapping may then
    /// never return.
    private func settled(_ body: (inout Stage) throws -> Bool?) throws -> Bool {
        let watch = mapping.surface.display.watch
        let (limit, isTooLong) = watch.limitNanoseconds.multipliedReportingOverflow(by: DriverCallWatchdog.TimeoutScale.wait.rawValue)
        var left = isTooLong ? UInt64.max : limit
        while true {
            let step = min(left, Self.stepNanoseconds)
            if let result = try stage.wait(atMostNanoseconds: step, body) { return result }
            left -= step
            if left > 0, !watch.isHung { continue }
            throw VAError(
                call: "vaUnmapBuffer", status: .timedOut, object: "surface \(mapping.surface.identifier)", remedy: Surface.hangRemedy,
                category: .deviceFailed)
        }
    }

    private static var stepNanoseconds: UInt64 { 10_000_000 }
}
