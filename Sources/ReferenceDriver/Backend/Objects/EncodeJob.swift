/// A picture on its way through a context's thread, and whom it keeps waiting.
final class EncodeJob: @unchecked Sendable {
    let contextID: UInt32
    let picture: PlannedPicture
    /// The surfaces that it reads and writes, and where it writes: they live as long as the job.
    let surfaces: [Surface]
    let coded: CodedBuffer
    /// Jobs of other contexts on the same surfaces that must be done first.
    let dependencies: [EncodeJob]
    /// Guarded by the display's monitor.
    var isDone = false

    init(
        contextID: UInt32, picture: PlannedPicture, surfaces: [Surface], coded: CodedBuffer, dependencies: [EncodeJob]
    ) {
        self.contextID = contextID
        self.picture = picture
        self.surfaces = surfaces
        self.coded = coded
        self.dependencies = dependencies
    }
}
