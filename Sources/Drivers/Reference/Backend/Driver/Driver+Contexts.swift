internal import CVA

extension Driver {
    func createContext(config id: VAConfigID, width: Int, height: Int, targets: [VASurfaceID]) throws -> VAContextID {
        // Loading a decoder takes long, so the monitor is not held.
        let choice = try monitor.withLock { try config(id).choice }
        let decoder = try choice.kind == .decode ? DecodeWorker(choice.entry.requiredCodec()) : nil
        return try monitor.withLock {
            let config = try config(id)
            let entry = config.entry
            // The size of a processing context has no meaning. Many clients use 0×0.
            guard
                config.kind == .process
                    || (entry.minimumWidth...entry.maximumWidth).contains(width)
                        && (entry.minimumHeight...entry.maximumHeight).contains(height)
            else { throw Refusal.resolution("a context of \(width)x\(height) is not supported") }
            for target in targets { _ = try surface(target) }
            return contexts.insert {
                Context(
                    id: $0, config: config.choice, width: width, height: height, environment: environment,
                    behavior: capabilities.behavior, counts: counts, decoder: decoder, monitor: monitor)
            }.id
        }
    }

    /// Destroys a context after its queued pictures are finished.
    func destroyContext(_ id: VAContextID) throws {
        let ended = try monitor.withLock {
            let ended = try context(id)
            contexts.remove(id)
            return ended
        }
        ended.finish()
    }
}
