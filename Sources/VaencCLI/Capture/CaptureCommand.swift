import ArgumentParser
import MediaFiles
import Vaenc

struct CaptureCommand: ParsableCommand, InterruptibleCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Record a camera.",
        usage: "vaenc capture [<options>] <input>",
        discussion: """
            INPUT is /dev/videoN; every option of encode holds. Until Ctrl-C, --frames or --duration; an OUTPUT that ends in .jpg \
            or .png is one picture.

              vaenc capture /dev/video0 -o out.mp4 --duration 10
              vaenc capture /dev/video0 -o first.h264 --frames 200 --capture-size 1280x720 --input-format mjpeg
              vaenc capture /dev/video0 -o talk.mkv --switch-to /dev/video1@12.5 --preview
              vaenc capture /dev/video0 -o photo.jpg
            """)

    @OptionGroup var encode: EncodeCommand

    func run() throws {
        guard let input = encode.input else {
            throw VaencError.usage("no camera to capture from", remedy: "give /dev/video0, or another that vaenc probe --capture lists")
        }
        guard CaptureOptions.isCamera(input) else {
            throw VaencError.usage("\(input) is no camera", remedy: "give /dev/videoN, or use vaenc encode")
        }
        if let photo = encode.output.output.first(where: { StillPicture.Format(name: $0) != nil }) {
            guard encode.output.output.count == 1 else {
                throw VaencError.usage("\(photo) is a picture, and goes with no other output", remedy: "capture it on its own")
            }
            return try PhotoJob(encode, input: input, output: photo).run()
        }
        try encode.run()
    }
}
