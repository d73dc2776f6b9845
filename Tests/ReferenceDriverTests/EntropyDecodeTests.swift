import ReferenceDriver
import TestOracles
import Testing

/// Random syntax through both entropy coders, judged by decoders of others. That both streams of the same syntax
/// decode without a message to the same pictures shows that both carry it: the two ways of coding share no tables.
@Suite struct EntropyDecodeTests {
    @Test(arguments: 0..<24) func bothCodersCarryTheSameSyntax(_ seed: Int) throws {
        var options = RandomSyntax.Options()
        options.transform8x8 = seed % 2 == 0
        options.widthInMacroblocks = [6, 1, 11, 2][seed / 2 % 4]
        options.heightInMacroblocks = [5, 7, 3][seed % 3]
        let syntax = RandomSyntax(seed: UInt64(seed), options: options)
        var pictures: [[PlanarFrame]] = []
        for cabac in [false, true] {
            let stream = syntax.stream(cabac: cabac)
            for decoder in ForeignDecoder.allCases {
                // openh264 wants two macroblocks a side at least.
                if decoder == .openh264 && options.widthInMacroblocks < 2 { continue }
                let decoded = decoder.decode(stream)
                #expect(decoded.messages.isEmpty, "\(decoder), CABAC \(cabac): \(decoded.messages.prefix(3))")
                #expect(decoded.frames.count == options.pictures)
                pictures.append(decoded.frames)
            }
        }
        for other in pictures.dropFirst() {
            let agree = other == pictures[0]
            #expect(agree)
        }
    }

    /// Levels beyond what level_prefix 15 can say in CAVLC, every size of CABAC's escapes, far motion. Samples
    /// overflow here, so that only one decoder's pictures can be compared.
    @Test(arguments: [(90, 2063, 300), (91, 2063, 60), (92, 32767, 2000), (93, 32767, 300), (94, 300, 8000)])
    func largeValuesAreCarried(_ seed: Int, _ level: Int, _ difference: Int) throws {
        var options = RandomSyntax.Options()
        options.transform8x8 = level > 2063 || seed % 2 == 0
        options.largestLevel = level
        options.largestDifference = difference
        options.qpRange = 0...51
        let syntax = RandomSyntax(seed: UInt64(seed), options: options)
        let first = ForeignDecoder.libavcodec.decode(syntax.stream(cabac: false))
        let second = ForeignDecoder.libavcodec.decode(syntax.stream(cabac: true))
        #expect(first.messages.isEmpty, "\(first.messages.prefix(3))")
        #expect(second.messages.isEmpty, "\(second.messages.prefix(3))")
        #expect(first.frames.count == options.pictures)
        let agree = first.frames == second.frames
        #expect(agree)
    }
}
