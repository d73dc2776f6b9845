/// The work of a context's thread on one picture.
protocol PictureTask: AnyObject, Sendable {
    /// Does the work. The context's thread calls it, without the monitor.
    func run()
    /// Makes the result visible to clients. The context's thread calls it after `run`, with the monitor held.
    func finish()
}

/// A queued picture of a context, with the surfaces that it uses.
final class Job: @unchecked Sendable {
    let contextID: UInt32
    let task: any PictureTask
    /// The surfaces that the job reads and writes. The job keeps them alive.
    let surfaces: [Surface]
    /// The jobs of other contexts on the same surfaces, which must be done first.
    let dependencies: [Job]
    /// Whether the job is done. The display's monitor guards it.
    var isDone = false

    /// Creates a job that depends on the unfinished jobs of its surfaces. Call it with the monitor held.
    init(contextID: UInt32, task: any PictureTask, surfaces: [Surface]) {
        self.contextID = contextID
        self.task = task
        self.surfaces = surfaces
        dependencies = surfaces.flatMap(\.jobs).filter { $0.contextID != contextID }
    }
}
