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
        let done = delivery.withLock { _ in
            let group = state.withLock { state in
                guard generation == state.generation, !state.isEnded else { return [EncodedPacket]() }
                let group = state.pending.take(packet)
                rate.delivered(group.count)
                if !group.isEmpty { state.failuresInARow = 0 }
                state.optionalSettings.delivered()
                return group
            }
            return send(group, generation: generation)
        }
        for frame in done { frame.recycle() }
    }

    /// Delivers packets. Call it only with `delivery` held.
    ///
    /// - Returns: The frames of the delivered packets.
    private func send(_ group: [EncodedPacket], generation: Int) -> [TakenFrame] {
        group.compactMap { packet in
            var packet = packet
            state.withLock { state in
                packet.codingIndex = state.nextCodingIndex
                packet.decode = state.decodeTimes.next() ?? packet.presentation
                packet.acknowledgementToken = packet.acknowledgementToken.map { $0 + generation << 32 }
                state.nextCodingIndex += 1
                if packet.isKey { state.sequences += 1 }
            }
            DeviceThread.runningForeignCode { handler(.success(packet)) }
            return state.withLock { state in
                state.statistics.delivered += 1
                return state.pending.remove(packet.displayIndex)
            }
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
            let (pool, held, generation) = state.withLock { state -> (InputPool?, [EncodedPacket]?, Int) in
                guard !state.isEnded else { return (nil, nil, 0) }
                state.phase = .failed(error)
                return (state.pool, state.pending.takeHeld(), state.generation)
            }
            guard let held else { return }
            pool?.close(error)
            _ = send(held, generation: generation)
            state.withLock { $0.statistics.dropped += $0.pending.dropUnsettled() }
            DeviceThread.runningForeignCode { handler(.failure(error)) }
            state.withLock { $0.failureWasDelivered = true }
        }
    }
}
