import ArgumentParser
import MediaFiles
import Vaenc

struct CaptureCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture", _superCommandName: VaencCommand.name,
        abstract: "Record a camera.",
        usage: "vaenc capture [<options>] <input>",
        discussion: """
            INPUT is /dev/videoN. All options of encode apply. The recording ends at Ctrl-C, or when --frames or \
            --duration is reached. If OUTPUT ends in .jpg or .png, vaenc saves one picture.

              vaenc capture /dev/video0 -o out.mp4 --duration 10
              vaenc capture /dev/video0 -o first.h264 --frames 200 --input-format mjpeg
              vaenc capture /dev/video0 -o talk.mkv --switch-to /dev/video1@12.5 --preview
              vaenc capture /dev/video0 -o photo.jpg
            """)

    @OptionGroup var encode: EncodeCommand

    func run() throws {
        guard let input = encode.input else {
            throw VaencError.usage(
                "no camera to capture from",
                remedy: "name /dev/video0, or another camera that vaenc probe --capture lists")
        }
        guard CaptureOptions.isCamera(input) else {
            throw VaencError.usage("\(input) is not a camera", remedy: "name /dev/videoN, or use vaenc encode")
        }
        if let photo = encode.output.output.first(where: { StillPicture.Format(name: $0) != nil }) {
            guard encode.output.output.count == 1 else {
                throw VaencError.usage(
                    "\(photo) is a still picture, and must be the only output", remedy: "run vaenc capture once for it")
            }
            return try PhotoJob(encode, input: input, output: photo).run()
        }
        try encode.run()
    }
}
