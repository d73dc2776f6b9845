/// Programs that decode streams, run as a user runs them.
public enum ForeignProgram {
    /// Decodes an Annex B stream with `ffmpeg -xerror -err_detect crccheck+explode`. Its output at warning level and an
    /// exit status other than 0 become messages.
    ///
    /// - Parameter bitDepth: The expected bit depth of the frames. ffmpeg converts frames of another depth, which is a
    ///   message too.
    public static func ffmpeg(
        _ stream: [UInt8], codec: StreamCodec, width: Int, height: Int, bitDepth: Int = 8
    ) throws -> DecodedVideo {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.\(codec.fileExtension)"
            try Files.write(stream, to: path)
            let result = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "warning", "-xerror", "-err_detect", "crccheck+explode", "-f", codec.format, "-i",
                    path, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt",
                    bitDepth > 8 ? "yuv420p10le" : "yuv420p", folder + "/a.yuv",
                ])
            var messages = result.errors.split(separator: "\n").map(String.init)
            if result.status != 0 { messages.append("ffmpeg ends with status \(result.status)") }
            let bytes = Files.exists(folder + "/a.yuv") ? try Files.read(folder + "/a.yuv") : []
            let frames = PlanarFrame.split(bytes, width: width, height: height, bitDepth: bitDepth)
            if frames == nil { messages.append("\(bytes.count) bytes are no frames of \(width)×\(height)") }
            return DecodedVideo(frames: frames ?? [], messages: messages)
        }
    }
}
