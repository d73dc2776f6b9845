import Vaenc

/// Encodes a file's pictures as HEVC and copies its sound. If the device also decodes the input, pictures stay on it.
func transcode(_ input: String, _ output: String, device: DeviceSelector) throws {
    let transcoder = try Transcoder(input: input, output: output, device: device) { $0.codec = .hevc }
    let result = try transcoder.run()
    for notice in result.notices { print(notice) }
    for entry in result.outputs[0].effective where entry.differs { print(entry.option, entry.used, entry.why) }
}
