import Vaenc

/// Writes one picture of a camera as JPEG or PNG, by the extension of the output.
func stillPicture(_ camera: String, _ output: String) throws {
    guard let format = StillPicture.Format(name: output) else {
        throw VaencError(.usage, "\(output) names no still picture", remedy: "end it in .jpg or .png")
    }
    let source = try CameraSource(camera)
    defer { source.close() }
    let picture = try SystemPixelBuffer(format: .nv12, size: source.info.size)
    guard try unsafe picture.withUnsafePlanes({ unsafe try source.readFrame(into: $0) }) != nil else {
        throw VaencError(.deviceFailed, "the camera delivered no picture")
    }
    _ = try StillPicture(output, format: format, overwrite: false).write(picture, color: source.info.color)
}
