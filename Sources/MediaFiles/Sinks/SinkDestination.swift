/// The destination of a sink's container: a file, a folder of segments, or a network connection.
protocol SinkDestination: MuxerDestination {
    /// Whether bytes may be written out of order.
    var isSeekable: Bool { get }
    /// The number of bytes written so far.
    var bytesWritten: Int { get }
    /// Completes the output and renames it to its final name.
    func commit() throws
    /// Removes everything that has no final name yet. Idempotent.
    func cancel()
}
