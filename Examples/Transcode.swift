import Vaenc

/// Encodes a file's pictures as HEVC and copies its sound. If the device also decodes the input, pictures stay on it.
func transcode(_ input: String, _ output: String, device: DeviceSelector) throws {
    let transcoder = try Transcoder(input: input, output: output, device: device) { $0.codec = .hevc }
    for notice in try transcoder.run().notices { print(notice) }
}
