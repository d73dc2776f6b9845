import CLibAV
import LibAV
import Synchronization
import VideoBase

/// Copies the streams of a file to another container without changing their packets. One thread runs it; any thread may
/// call `cancel`.
public final class Remuxer: Sendable {
    private let input: String
    private let output: String
    private let options: RemuxOptions
    private let format: OutputFormat
    private let codec: VideoCodec?
    private let reader: ByteReader
    private let cancelled = Atomic(false)
    private let hasRun = Atomic(false)
    /// The timeout of calls that wait for a network; nil if no call waits.
    private let networkTimeout = Guarded<NetworkTimeout?>(nil)

    /// Opens the input.
    /// - Throws: `DescribedError`: `usage` for invalid options, for a name that determines no format, and for an output
    ///   that is the input; the errors of opening the input.
    public init(_ input: String, to output: String, options: RemuxOptions = RemuxOptions()) throws {
        var sinkOptions = SinkOptions()
        sinkOptions.format = options.format
        (format, codec) = try MediaOutput.format(of: output, options: sinkOptions)
        if let same = MediaOutput.overwritten(input, by: output, options: sinkOptions) {
            throw VaencError(.usage, "\(same) is the input itself", remedy: "use another output")
        }
        try Validation.validate(start: options.start, duration: options.duration)
        if let rate = options.frameRate { try Validation.validate(frameRate: rate) }
        self.input = input
        self.output = output
        self.options = options
        reader = try ByteReader(path: input)
    }

    /// Makes `run` return soon. The packets that were copied make a complete output. Any thread may call this.
    public func cancel() {
        cancelled.store(true, ordering: .relaxed)
        reader.cancel()
        networkTimeout.withLock { $0 }?.shorten()
    }

    /// Copies the input, once. Blocks.
    ///
    /// - Throws: `DescribedError`: `badInput` if the input is damaged or truncated; then no file has the output's name.
    ///   `usage` if it has run already or the format cannot hold the streams; `cannotCreate`, `inputOutput`,
    ///   `interrupted`, `noPermission`, `unavailable`.
    public func run() throws -> RemuxReport {
        if hasRun.exchange(true, ordering: .relaxed) {
            throw VaencError(.usage, "this Remuxer has already run", remedy: "use a new one")
        }
        let input = try InputContext(reader)
        let plan = try RemuxPlan(input, format: format, named: codec, strict: options.strict)
        let destination = try open()
        networkTimeout.withLock { $0 = destination.networkTimeout }
        do {
            let copy = try RemuxCopy(input, plan, to: destination, format: format, options: options)
            var isInterrupted = false
            do {
                while try copy.step() {
                    if cancelled.load(ordering: .relaxed) {
                        isInterrupted = true
                        break
                    }
                }
            } catch let error as any DescribedError where error.category == .interrupted { isInterrupted = true }
            try copy.finishPackets(isWhole: !isInterrupted)
            if copy.packetCount == 0 {
                if isInterrupted { throw VaencError(.interrupted, "interrupted before the first packet: nothing was written") }
                throw VaencError(
                    .badInput, "\(input.name) has no packets to copy",
                    remedy: "check `start` and the input")
            }
            try copy.finish()
            try destination.commit()
            var report = copy.report
            report.isInterrupted = isInterrupted
            report.bytes = destination.bytesWritten
            report.keptPart = (destination as? WriteContext)?.file.keptPart
            return report
        } catch {
            destination.cancel()
            throw error
        }
    }

    private func open() throws -> any SinkDestination {
        var sinkOptions = SinkOptions()
        sinkOptions.overwrite = options.overwrite
        return try MediaOutput.destination(output, format: format, options: sinkOptions) { [weak self] in
            self?.cancelled.load(ordering: .relaxed) ?? true
        }
    }
}
