import TestOracles
import Testing

/// openh264 judges no stream with B pictures, because it shows x264's differently from FFmpeg.
@Suite struct OpenH264Tests {
    @Test func openH264DecodesBPicturesDifferently() throws {
        func agree(_ options: String) throws -> Bool {
            let source = try Fixture.bikes.frames(12, width: 288, height: 144)
            let stream = try ForeignEncoder.x264(
                source, options: "qp=28:keyint=250:ref=1:8x8dct=0:weightp=0:" + options)
            return ForeignDecoder.libavcodec.decode(stream).frames == ForeignDecoder.openh264.decode(stream).frames
        }
        #expect(try agree("bframes=0"))
        #expect(try !agree("bframes=1:b-adapt=0:weightb=0"))
    }
}
