import Vaenc

/// Records the first pictures of a camera into a file.
func firstFrames(of camera: String, _ output: String, count: Int) throws {
    var options = SourceOptions()
    options.frameLimit = count
    try record(CameraSource(camera, options: options), to: output)
}
