import Testing
import VideoBase

@testable import MediaFiles

@Suite struct TestPatternTests {
    @Test func patternIsReproducibleAndMoves() throws {
        let first = try MediaInput.open("testsrc:320x180@25:6").all(.nv12)
        let second = try MediaInput.open("testsrc:320x180@25:6").all(.nv12)
        #expect(first.count == 6)
        let isSame = first.map(\.bytes) == second.map(\.bytes)
        #expect(isSame)
        #expect(Set(first.map(\.bytes)).count == 6)
        #expect(first.map(\.timing.presentation) == (0..<6).map { MediaTime(value: $0, timescale: 25) })
        // The samples have limited range and many values.
        let luma = first[3].bytes[..<(320 * 180)]
        #expect(luma.allSatisfy { (16...235).contains($0) })
        #expect(Set(luma).count > 100)
    }

    @Test func patternStaysInsideThePlanes() throws {
        for width in [1, 2, 3, 16, 17, 64, 513] {
            for height in [1, 2, 3, 16, 17, 70] {
                let size = VideoSize(width: width, height: height)
                let source = try MediaInput.open("testsrc:\(width)x\(height)@25:40")
                let picture = PaddedPicture(.nv12, size)
                while try picture.read(source) != nil {}
                #expect(picture.isIntactAround, "\(size)")
            }
        }
    }

    @Test func startAndDurationSelectPictures() throws {
        let all = try MediaInput.open("testsrc:64x64@10:20").all()
        var options = SourceOptions()
        options.start = .milliseconds(500)
        options.duration = .milliseconds(400)
        let some = try MediaInput.open("testsrc:64x64@10:20", options: options).all()
        let isPart = some.map(\.bytes) == all[5..<9].map(\.bytes)
        #expect(isPart)
        #expect(some.first?.timing.presentation == .zero)
    }

    @Test func specificationIsParsed() throws {
        #expect(try MediaInput.open("testsrc:64x32").info.frameCount == 300)
        #expect(try MediaInput.open("testsrc:64x32@50").info.frameRate == Rational(50))
        #expect(try MediaInput.open("testsrc:64x32@29.97:7").info.frameCount == 7)
        #expect(try MediaInput.open("testsrc:64x32:7").info.frameCount == 7)
        for text in [
            "", "64", "64x", "0x2", "64x64@", "64x64@0", "64x64@25:", "64x64@25:0", "64x64@25:x", "64x64@25:1:1",
            "99999x2",
        ] {
            #expect(failure { try MediaInput.open("testsrc:\(text)") }?.category == .usage, "\(text)")
        }
    }
}
