/// Where a sink's container goes: a file, a folder of segments, a network connection.
protocol SinkDestination: MuxerDestination {
    /// May be written to out of order.
    var isSeekable: Bool { get }
    var bytesWritten: Int { get }
    /// Completes what was written and gives it its final name.
    func commit() throws
    /// Removes what has no final name yet. Idempotent.
    func cancel()
}
