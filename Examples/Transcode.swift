import Vaenc

/// Encodes a file's pictures as HEVC and copies its sound. If the device also decodes the input, pictures stay on it.
func transcode(_ input: String, _ output: String, device: DeviceSelector) throws {
    var options = SourceOptions()
    options.readsSound = true
    try record(MediaInput.open(input, options: options), to: output, codec: .hevc, device: device)
}
