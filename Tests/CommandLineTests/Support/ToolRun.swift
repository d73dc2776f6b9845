import TestOracles
import Testing

/// One run of a command that prints a JSON report.
struct ToolRun {
    var status: Int
    var report: JSONValue?
    var errorLines: [Substring]
    var output: [UInt8]
    var peakKB: Int

    /// - Parameter measuresMemory: Whether `peakKB` is the program's own peak, which needs another process.
    init(_ arguments: [String], input: [UInt8] = [], measuresMemory: Bool = false) throws {
        let result =
            measuresMemory
            ? try ProcessRunner.runMeasuringMemory(Checkout.vaenc, arguments, input: input)
            : try ProcessRunner.run(Checkout.vaenc, arguments, input: input)
        (status, report, errorLines) = (result.status, JSONValue(result.output), result.errorLines)
        (output, peakKB) = (result.stdout, result.peakKB)
    }

    /// Expects one line on stderr with the given words, the given status, and no output files.
    func expectRefusal(_ status: Int, _ words: String, without files: [String] = [], at location: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, "\(errorLines)", sourceLocation: location)
        #expect(errorLines.count == 1 && errorLines[0].contains(words), "\(errorLines)", sourceLocation: location)
        for file in files {
            #expect(!Files.exists(file) && !Files.exists(file + ".part"), "\(file)", sourceLocation: location)
        }
    }
}

/// Runs ffmpeg, which must succeed.
func ffmpeg(_ arguments: String...) throws {
    let run = try ProcessRunner.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments)
    try #require(run.status == 0, "\(run.errors)")
}

/// Elementary streams of real clips, and HEVC streams encoded from them.
enum StreamSample: String, CaseIterable {
    case bikes, carphone, bigBuckBunny, hevc, hevc10

    var isHEVC: Bool { self == .hevc || self == .hevc10 }
    var codec: String { isHEVC ? "hevc" : "h264" }

    /// Makes the sample in a container and as Annex B: of a real clip, the first `frames` pictures in coding order.
    func make(in folder: String, frames: Int = 1000) throws -> (container: String, stream: String) {
        let (container, stream) = ("\(folder)/c.mp4", "\(folder)/s.\(isHEVC ? "h265" : "h264")")
        func copy(_ clip: Fixture) throws { try ffmpeg("-i", clip.path(), "-c", "copy", "-an", "-frames:v", "\(frames)", container) }
        switch self {
        case .bikes: try copy(.bikes)
        case .carphone: try copy(.carphone)
        case .bigBuckBunny: try copy(.bigBuckBunny)
        case .hevc, .hevc10:
            try ffmpeg(
                "-i", Fixture.carphone.path(), "-frames:v", "40", "-c:v", "libx265", "-pix_fmt",
                self == .hevc ? "yuv420p" : "yuv420p10le", "-preset", "ultrafast", "-x265-params",
                "log-level=none:keyint=16:bframes=3:b-pyramid=1:repeat-headers=1", "-tag:v", "hev1", container)
        }
        try ffmpeg("-i", container, "-c", "copy", "-bsf:v", "\(codec)_mp4toannexb", "-f", codec, stream)
        return (container, stream)
    }
}
