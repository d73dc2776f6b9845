import Threads
import VAAPI
import VideoBase

extension Supervisor {
    func check(_ buffer: any PixelBuffer) throws {
        guard buffer.size == settings.inputSize else {
            throw VaencError(
                .usage, "the frame's size is \(buffer.size), but the encoder expects \(settings.inputSize)",
                remedy: "use a buffer that makePixelBuffer returns")
        }
        if settings.isStrict { try Validation.validate(frameDepth: buffer.format.bitDepth, codedDepth: settings.pixelFormat.bitDepth) }
        let formats = FrameCopy.formats(into: settings.pixelFormat)
        guard conversion != nil || formats.contains(buffer.format) else {
            let names = formats.map(\.rawValue).joined(separator: ", ")
            throw VaencError(
                .usage, "the encoder accepts \(names), not \(buffer.format.rawValue)",
                remedy: "convert the frame into a buffer that makePixelBuffer returns")
        }
    }

    /// Returns a frame in the buffer's own surface or in a copy. Returns nil if the picture is on a lost device and
    /// cannot be read any more. Blocks while all surfaces are in use.
    func frame(of buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws -> TakenFrame? {
        let taken = ContinuousClock.now
        if let provided = buffer as? SurfaceBuffer,
            let frame = try frame(on: provided, timing: timing, options: options, taken: taken)
        {
            return frame
        }
        try check(buffer)
        let own = (buffer as? InputBuffer).flatMap { $0.session == ObjectIdentifier(self) ? $0 : nil }
        guard let contents = try own?.takeContents() ?? readableCopy(of: buffer) else { return nil }
        return TakenFrame(
            index: 0, input: contents.input, pool: contents.pool, timing: timing, taken: taken, options: options)
    }

    /// Copies a buffer; nil if its picture cannot be read. A picture on a device may be lost with the device, so a
    /// second failure counts as permanent.
    private func readableCopy(of buffer: any PixelBuffer) throws -> InputBuffer.Contents? {
        guard buffer is SurfaceBuffer else { return try copy(of: buffer) }
        for _ in 0..<2 {
            do { return try copy(of: buffer) } catch  where error is VAError && error.isDeviceFault {
                try state.withLock { try $0.throwIfEnded() }
            }
        }
        return nil
    }

    private func copy(of buffer: any PixelBuffer) throws -> InputBuffer.Contents {
        let copy = try makeBuffer()
        try unsafe buffer.withUnsafePlanes { source in
            try unsafe source.check(of: buffer)
            try unsafe copy.withUnsafePlanes { target in try unsafe write(source, to: target) }
        }
        return try copy.takeContents()
    }

    /// Copies a picture into the planes of a surface, and converts it if its format differs too much.
    private func write(_ source: PixelPlanes, to target: PixelPlanes) throws {
        guard let conversion, unsafe !FrameCopy.formats(into: target.format).contains(source.format) else {
            return unsafe FrameCopy.copy(source, to: target)
        }
        // A caller's planes may be larger than its picture.
        var visible = unsafe source
        unsafe visible.size = target.size
        unsafe try conversion.convert(visible, to: target)
    }

    /// Returns a buffer with a surface of the pool. Blocks while all surfaces are in use.
    func makeBuffer() throws -> InputBuffer {
        while true {
            let (pool, renewal) = try state.waitWithoutNotifying { state -> (InputPool, InputBuffer.Renewal)? in
                try state.throwIfEnded()
                guard let pool = state.pool else { return nil }
                return (pool, state.renewal ?? makeRenewal(&state))
            }
            do { return try InputBuffer(from: pool, of: ObjectIdentifier(self), renewal: renewal) } catch is InputPool.Replaced { continue }
        }
    }

    private func makeRenewal(_ state: inout State) -> InputBuffer.Renewal {
        let renewal = InputBuffer.Renewal { [weak self] in
            guard let self else { throw EncodePipeline.closed }
            return try pool(insteadOf: $0, $1)
        }
        state.renewal = renewal
        return renewal
    }

    /// Returns the pool that replaces one whose surfaces cannot be mapped. The device is reinitialized on a new
    /// display; the call blocks until that is done.
    private func pool(insteadOf failed: InputPool, _ why: any Error) throws -> InputPool {
        enum Next {
            case fault(generation: Int)
            case pool(InputPool)
        }
        while true {
            // While the device is reinitialized, its new pool can be used before its pipeline runs. A fault of this pool
            // counts as soon as the pipeline runs.
            let next = try state.wait { state -> Next? in
                try state.throwIfEnded()
                if let pool = state.pool, pool !== failed { return .pool(pool) }
                guard state.pool === failed, state.runningPipeline != nil else { return nil }
                state.reopens = true
                return .fault(generation: state.generation)
            }
            switch next {
            case .fault(let generation): fault(why, generation: generation)
            case .pool(let pool): return pool
            }
        }
    }

    /// Returns the frame in a surface of the current device; nil if its samples cannot be read any more. Blocks while
    /// all surfaces are in use.
    func inCurrentSurface(_ frame: TakenFrame) throws -> TakenFrame? {
        while true {
            let pool = try state.wait { state -> InputPool? in
                try state.throwIfEnded()
                return state.pool
            }
            if frame.isUsable(in: pool) { return frame }
            do {
                return FrameMigration.move(frame, to: try pool.take(), of: pool)
            } catch is InputPool.Replaced { continue }
        }
    }
}
