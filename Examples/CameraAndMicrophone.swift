import Vaenc

/// Records a camera and a microphone into one MP4 file. The first picture is time zero.
func cameraAndMicrophone(_ camera: String, _ microphone: String, _ output: String, duration: Duration) throws {
    var request = CaptureRequest()
    request.size = VideoSize(width: 1280, height: 720)
    request.frameRate = Rational(30)
    var options = SourceOptions()
    options.duration = duration
    let source = try CameraSource(
        camera, request: request, options: options, microphone: microphone,
        onNotice: { notice in
            if case .dropped(let byDriver, let late, let damaged) = notice {
                print("dropped: \(byDriver) by the driver, \(late) late, \(damaged) damaged")
            }
        })
    try record(source, to: output)
}
