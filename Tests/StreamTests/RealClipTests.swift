import TestOracles
import Testing

/// Encodes real video at its own size.
@Suite struct RealClipTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var clip: Fixture
        var frames: Int
        var options: String
        var testDescription: String { "\(clip) \(frames) frames \(options)" }
    }

    /// The cases have QP 30 and must reach 28 dB on every frame.
    static let cases = [
        Case(clip: .carphone, frames: 120, options: "--preset 1 --gop 250 --profile high --entropy cabac --slices 1"),
        Case(clip: .carphone, frames: 30, options: "--preset 4 --gop 10 --profile main --entropy cavlc --slices 4"),
        Case(clip: .carphone, frames: 12, options: "--preset 7 --gop 1 --profile high --entropy cabac --slices 2"),
        Case(clip: .carphone, frames: 30, options: "--preset 6 --gop 250 --profile baseline --slices 3"),
        Case(clip: .carphone, frames: 30, options: "--preset 2 --gop 250 --profile high --entropy cavlc --refs 4"),
        Case(clip: .bikes, frames: 30, options: "--preset 4 --gop 250 --profile high --entropy cabac --slices 1"),
        Case(clip: .bikes, frames: 25, options: "--preset 7 --gop 10 --profile baseline --slices 4"),
        Case(
            clip: .bikes, frames: 12, options: "--preset 1 --gop 250 --profile main --entropy cabac --slices 2 --refs 3"
        ),
        Case(clip: .bikes, frames: 25, options: "--preset 5 --gop 10 --profile high --entropy cavlc --slices 3"),
        Case(clip: .bigBuckBunny, frames: 12, options: "--preset 4 --gop 10 --profile high --entropy cabac --slices 4"),
        Case(
            clip: .bigBuckBunny, frames: 24, options: "--preset 7 --gop 250 --profile high --entropy cabac --slices 1"),
        Case(clip: .bigBuckBunny, frames: 4, options: "--preset 7 --gop 1 --profile main --entropy cavlc --slices 2"),
        Case(clip: .bigBuckBunny, frames: 4, options: "--preset 1 --gop 250 --profile high --entropy cabac --slices 1"),
    ]

    @Test(arguments: cases) func decodersAgreeWithTheReconstruction(_ each: Case) throws {
        let options = each.options.split(separator: " ").map(String.init) + ["--codec", "h264", "--qp", "30"]
        let encoded = try EncodedStream(
            raw: each.clip.rawPath(frames: each.frames), width: each.clip.width, height: each.clip.height,
            options: options)
        let faults = encoded.faults(frameCount: each.frames) + encoded.violations()
        #expect(faults.isEmpty)
        let source = try each.clip.frames(each.frames)
        #expect(source.count == each.frames)
        let lowest = encoded.lowestPSNR(against: source)
        #expect(lowest >= 28)
    }

    @Test(arguments: Fixture.allCases) func lowerQPCostsBitsAndRaisesQuality(_ clip: Fixture) throws {
        let frames = clip == .bigBuckBunny ? 2 : 10
        let source = try clip.frames(frames)
        var last: (bytes: Int, psnr: Double)?
        for qp in [10, 18, 26, 34, 42, 50] {
            let encoded = try EncodedStream(
                raw: clip.rawPath(frames: frames), width: clip.width, height: clip.height,
                options: ["--codec", "h264", "--qp", "\(qp)", "--preset", "5"])
            let now = (bytes: encoded.stream.count, psnr: encoded.lowestPSNR(against: source))
            let faults = encoded.faults(frameCount: frames)
            #expect(faults.isEmpty, "QP \(qp)")
            if let last {
                #expect(now.bytes < last.bytes, "QP \(qp)")
                #expect(now.psnr < last.psnr, "QP \(qp)")
            }
            last = now
        }
    }

    /// A demuxed clip and its raw frames must be encoded to the same stream.
    @Test func fileAndRawFramesGiveTheSameStream() throws {
        let raw = try EncodedStream(
            raw: Fixture.bikes.rawPath(frames: 12), width: 640, height: 272,
            options: ["--codec", "h264", "--qp", "28", "--fps", "25", "--preset", "7"])
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                [
                    "encode", try Fixture.bikes.path(), "--frames", "12", "--device", "reference", "--codec", "h264",
                    "--qp", "28", "--preset", "7", "-o", folder + "/a.h264",
                ])
            #expect(result.status == 0, "\(result.errors)")
            let a = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/a.h264"))
            #expect(a.messages.isEmpty)
            let same = a.frames == raw.reconstruction.framesInOutputOrder
            #expect(same)
        }
    }
}
