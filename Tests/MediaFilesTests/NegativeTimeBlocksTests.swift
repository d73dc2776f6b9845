import Testing

@testable import MediaFiles

/// Matroska blocks with times before 0, built from the bytes of the elements (RFC 9559 10 and 11.2).
@Suite struct NegativeTimeBlocksTests {
    /// Makes an element with a size of one byte.
    private static func element(_ id: [UInt8], _ content: [UInt8]) -> [UInt8] { id + [0x80 | UInt8(content.count)] + content }

    /// Makes a block of a track, at a time relative to its cluster's.
    private static func block(_ id: UInt8, _ track: UInt8, _ time: Int16) -> [UInt8] {
        let bits = UInt16(bitPattern: time)
        return element([id], [0x80 | track, UInt8(bits >> 8), UInt8(bits & 255), 0x80] + [UInt8](repeating: 0xAA, count: 30))
    }

    private static let header = element([0x1A, 0x45, 0xDF, 0xA3], [0x42, 0x82, 0x84, 0x77, 0x65, 0x62, 0x6D])
    /// A segment of unknown size.
    private static let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    private static func cluster(_ time: UInt8) -> [UInt8] { [0x1F, 0x43, 0xB6, 0x75, 0xFF, 0xE7, 0x81, time] }

    private static func found(_ file: [UInt8], by piece: Int) -> NegativeTimeBlocks {
        var blocks = NegativeTimeBlocks()
        for start in stride(from: 0, to: file.count, by: piece) {
            let bytes = Array(file[start..<min(start + piece, file.count)])
            blocks.append(bytes.span)
        }
        return blocks
    }

    @Test(arguments: [1, 7, 24, 25, 10_000]) func timesOfEarlyBlocksAreFound(_ piece: Int) {
        var file = Self.header + Self.segment + Self.element([0xEC], [1, 2, 3]) + Self.cluster(20)
        var offsets: [Int] = []
        func add(_ block: [UInt8], head: Int) {
            offsets.append(file.count + head)
            file += block
        }
        // A block 10 before 0, one in a group, one at 0, one 30 before 0, and two in a later cluster.
        add(Self.block(0xA3, 1, -30), head: 2)
        let group = Self.block(0xA1, 2, -25)
        add(Self.element([0xA0], group), head: 4)
        add(Self.block(0xA3, 1, -20), head: 2)
        add(Self.block(0xA3, 1, -50), head: 2)
        file += Self.cluster(100)
        add(Self.block(0xA3, 2, -99), head: 2)
        add(Self.block(0xA3, 2, -101), head: 2)
        file += [UInt8](repeating: 0, count: 40)
        var blocks = Self.found(file, by: piece)
        var (starts, times): ([Int64?], [Int64?]) = ([], [])
        for offset in offsets {
            starts.append(blocks.start(ofTrackWithBlockAt: offset))
            times.append(blocks.takeTime(at: offset, lasting: 4))
        }
        #expect(starts == [-30, -5, nil, -30, nil, -5])
        #expect(times == [-10, -5, nil, -30, nil, -1])
        let next = blocks.takeTime(at: offsets[0], lasting: 4)
        #expect(next == -6, "the next packet of the same block")
    }

    /// For other files nothing is kept, and random bytes cause no trap.
    @Test func otherBytesAreIgnored() {
        #expect(Self.found([UInt8](repeating: 0xA3, count: 1000), by: 100).isEmpty)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let noise = (0..<400).map { _ in UInt8.random(in: 0...255, using: &random) }
            _ = Self.found(Self.header + Self.segment + Self.cluster(0) + noise, by: 50)
            _ = Self.found(Self.header + noise, by: 50)
        }
        // Sizes of 2^56 - 2, beyond the end of the file.
        for id: [UInt8] in [[0xEC], [0xA3], [0xE7], [0x1F, 0x43, 0xB6, 0x75]] {
            let huge = id + [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]
            let blocks = Self.found(Self.header + huge + huge + [UInt8](repeating: 0xFF, count: 100), by: 9)
            #expect(blocks.isEmpty)
        }
    }
}
