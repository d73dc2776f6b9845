import Vaenc

/// A file's pictures as HEVC, its sound as it is. Where the device decodes the input too, pictures stay on it.
func transcode(_ input: String, _ output: String, device: DeviceSelector) throws {
    var options = SourceOptions()
    options.readsSound = true
    try record(MediaInput.open(input, options: options), to: output, codec: .hevc, device: device)
}
