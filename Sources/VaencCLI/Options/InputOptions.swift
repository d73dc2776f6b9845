import ArgumentParser
import MediaFiles
import VideoBase

struct InputOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Size of raw frames.", valueName: "WxH"))
    var inputSize: String?

    @Option(help: ArgumentHelp("Format of raw frames: nv12, i420, yv12, yuyv, p010, …", valueName: "FORMAT"))
    var inputFormat: String?

    @Option(help: ArgumentHelp("Frames per second: 25, 29.97, 30000/1001.", valueName: "R"))
    var fps: String?

    @Option(help: ArgumentHelp("Encode at most this many frames.", valueName: "N"))
    var frames: Int?

    @Option(help: ArgumentHelp("Skip the input up to this time.", valueName: "SECONDS"))
    var start: Double?

    @Option(help: ArgumentHelp("Encode this long.", valueName: "SECONDS"))
    var duration: Double?

    @Option(help: ArgumentHelp("Scale to this size.", valueName: "WxH"))
    var size: String?

    @Option(help: ArgumentHelp("How a picture of another shape is fitted to --size.", valueName: "letterbox|crop|stretch"))
    var fit: FrameFit = .letterbox

    @Option(help: ArgumentHelp("Sound: only none for now.", valueName: "copy|aac|none"))
    var audio: String?
}

extension FrameFit: @retroactive ExpressibleByArgument {}
