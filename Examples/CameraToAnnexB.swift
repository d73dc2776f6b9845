import Vaenc

/// Encodes a camera's pictures as H.264 or HEVC with start codes, by the extension: `test.h264` or `test.h265`.
func cameraToAnnexB(_ camera: String, _ output: String, duration: Duration) throws {
    var options = SourceOptions()
    options.duration = duration
    let codec = try MediaOutput.format(of: output).codec
    try record(CameraSource(camera, options: options), to: output, codec: codec)
}
