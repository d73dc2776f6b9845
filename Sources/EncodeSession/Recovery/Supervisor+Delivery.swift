import EncodePlanning
import Synchronization
import Threads
import VAAPI
import VideoBase

/// Delivers the results of pipelines: packets in order, and the error that ends the session.
extension Supervisor {
    func receive(_ result: Result<EncodedPacket, any Error>, generation: Int) {
        switch result {
        case .success(let packet): deliver(packet, generation: generation)
        case .failure(let error): fault(error, generation: generation)
        }
    }

    private func deliver(_ packet: EncodedPacket, generation: Int) {
        // Most packets are alone in their group, so that no array is needed.
        var first: TakenFrame?
        var others: [TakenFrame] = []
        delivery.withLock { _ in
            let releases = state.withLockWithoutNotifying { state in
                guard generation == state.generation, !state.isEnded else { return false }
                let count = state.pending.take(packet)
                rate.delivered(count)
                if count > 0 { state.failuresInARow = 0 }
                state.optionalSettings.delivered()
                return count > 0
            }
            guard releases else { return }
            sendReleased(generation: generation) { frame in
                if first == nil { first = frame } else { others.append(frame) }
            }
        }
        first?.recycle()
        for frame in others { frame.recycle() }
    }

    /// Delivers the released packets, and passes their frames to `body`. Call it only with `delivery` held.
    private func sendReleased(generation: Int, _ body: (TakenFrame) -> Void) {
        while let packet = state.withLockWithoutNotifying({ $0.nextPacket(generation: generation) }) {
            let index = packet.displayIndex
            DeviceThread.runningForeignCode { handler(.success(packet)) }
            let frame = state.withLock { state in
                state.statistics.delivered += 1
                return state.pending.remove(index)
            }
            if let frame { body(frame) }
        }
    }

    func fault(_ error: any Error, generation: Int) {
        var error = error
        let recovers: Bool? = state.withLock { state in
            guard generation == state.generation, !state.isEnded else { return nil }
            state.failuresInARow += 1
            guard error.isDeviceFault, state.failuresInARow < limits.failuresInARow else { return false }
            if error is OutputOverflow {
                guard state.failuresInARow < OutputOverflow.tries else { return false }
                if state.codedScale < 8 { state.codedScale *= 2 }
            }
            if let refusal = (error as? VAError)?.refusalOfSharedMemory { state.settings.refusedMemory = refusal }
            if state.optionalSettings.failed(error), state.settings.hasOptionalSettings {
                if settings.isStrict {
                    error = OptionalSettingsFallback.strictError(error)
                    return false
                }
                state.settings = state.settings.withoutOptionalSettings
            }
            state.phase = .recovering(generation)
            return true
        }
        switch recovers {
        case true?: recovery.async { [weak self] in self?.recover(generation) }
        case false?: end(error)
        case nil: break
        }
    }

    /// Ends the session with an error. Finished packets are delivered before the error.
    func end(_ cause: any Error) {
        let error = describe(cause)
        delivery.withLock { _ in
            let last = state.withLock { state -> (pool: InputPool?, generation: Int)? in
                guard !state.isEnded else { return nil }
                state.phase = .failed(error)
                state.pending.releaseHeld()
                return (state.pool, state.generation)
            }
            guard let last else { return }
            last.pool?.close(error)
            sendReleased(generation: last.generation) { _ in }
            state.withLock { $0.statistics.dropped += $0.pending.dropUnsettled() }
            DeviceThread.runningForeignCode { handler(.failure(error)) }
            state.withLock { $0.failureWasDelivered = true }
        }
    }
}

extension Supervisor.State {
    /// Removes the next released packet and numbers it; nil if there is none.
    fileprivate mutating func nextPacket(generation: Int) -> EncodedPacket? {
        guard var packet = pending.nextReleased() else { return nil }
        packet.codingIndex = nextCodingIndex
        packet.decode = decodeTimes.next() ?? packet.presentation
        packet.acknowledgementToken = packet.acknowledgementToken.map { $0 + generation << 32 }
        nextCodingIndex += 1
        if packet.isKey { sequences += 1 }
        return packet
    }
}
