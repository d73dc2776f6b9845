internal import CVA

extension Driver {
    func createContext(config id: VAConfigID, width: Int, height: Int, targets: [VASurfaceID]) throws -> VAContextID {
        // Loading a decoder takes its time.
        let choice = try monitor.withLock { try config(id).choice }
        let decoder = try choice.kind == .decode ? DecodeWorker(choice.entry.codec) : nil
        return try monitor.withLock {
            let config = try config(id)
            let entry = config.entry
            // A processor's pictures have sizes of their own, and clients say anything: 0×0 is usual.
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

    /// Finishes the pictures that are queued first.
    func destroyContext(_ id: VAContextID) throws {
        let ended = try monitor.withLock {
            let ended = try context(id)
            contexts.remove(id)
            return ended
        }
        ended.finish()
    }
}
