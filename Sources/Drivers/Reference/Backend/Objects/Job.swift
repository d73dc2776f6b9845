/// What a context's thread does for a picture.
protocol PictureTask: AnyObject, Sendable {
    /// On the context's thread, without the monitor.
    func run()
    /// After `run`, with the monitor held: what came of it becomes what clients see.
    func finish()
}

/// A picture on its way through a context's thread, and whom it keeps waiting.
final class Job: @unchecked Sendable {
    let contextID: UInt32
    let task: any PictureTask
    /// The surfaces that it reads and writes: they live as long as the job.
    let surfaces: [Surface]
    /// Jobs of other contexts on the same surfaces that must be done first.
    let dependencies: [Job]
    /// Guarded by the display's monitor.
    var isDone = false

    /// With the monitor held.
    init(contextID: UInt32, task: any PictureTask, surfaces: [Surface]) {
        self.contextID = contextID
        self.task = task
        self.surfaces = surfaces
        dependencies = surfaces.flatMap(\.jobs).filter { $0.contextID != contextID }
    }
}
