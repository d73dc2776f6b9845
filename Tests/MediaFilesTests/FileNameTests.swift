import MediaFiles
import Testing
import VideoBase

@Suite struct FileNameTests {
    /// Every string of up to four bytes, from a set with all kinds of bytes, is unchanged by the round trip.
    @Test func fileNameKeepsItsBytes() {
        let kinds: [UInt8] = [0x41, 0x80, 0xC3, 0xA9, 0xE9, 0xEF, 0x9E, 0xF0, 0xFF]
        var names: [[UInt8]] = [[]]
        for _ in 0..<4 {
            names = names.flatMap { name in [name] + kinds.map { name + [$0] } }
            for name in names { #expect(FileName.cString(FileName.string(name)).map { UInt8(bitPattern: $0) } == name + [0]) }
            names = Array(Set(names))
        }
        #expect(FileName.string(Array("café".utf8)) == "café")
        #expect(FileName.printable(FileName.string([0x63, 0xE9])) == "c\\xE9")
    }
}
