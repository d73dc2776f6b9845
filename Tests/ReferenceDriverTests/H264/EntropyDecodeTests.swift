import ReferenceDriver
import TestOracles
import Testing

/// Foreign decoders judge random syntax of both entropy coders. If both streams of the same syntax decode without
/// messages to the same pictures, both carry the syntax, because the two ways of coding share no tables.
@Suite struct EntropyDecodeTests {
    @Test(arguments: 0..<24) func cavlcAndCABACDecodeToTheSamePictures(_ seed: Int) throws {
        var options = RandomSyntax.Options()
        options.transform8x8 = seed % 2 == 0
        options.widthInMacroblocks = [6, 1, 11, 2][seed / 2 % 4]
        options.heightInMacroblocks = [5, 7, 3][seed % 3]
        let syntax = RandomSyntax(seed: UInt64(seed), options: options)
        var pictures: [[PlanarFrame]] = []
        for cabac in [false, true] {
            let stream = syntax.stream(cabac: cabac)
            for decoder in ForeignDecoder.all(for: .h264) {
                // openh264 needs at least two macroblocks per side.
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

    /// The levels exceed what level_prefix 15 can express in CAVLC, and cover every size of CABAC's escapes; motion
    /// vectors are long. Samples overflow here, so only the pictures of one decoder can be compared.
    @Test(arguments: [(90, 2063, 300), (91, 2063, 60), (92, 32767, 2000), (93, 32767, 300), (94, 300, 8000)])
    func largeValuesDecodeToTheSamePictures(_ seed: Int, _ level: Int, _ difference: Int) throws {
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

    /// The criterion above is sensitive: it fails if one element of the syntax of one stream changes.
    @Test func changedElementsChangeThePictures() {
        for (name, change) in changes {
            for cabac in [false, true] {
                var syntax = RandomSyntax(seed: 5)
                let whole = ForeignDecoder.libavcodec.decode(syntax.stream(cabac: cabac)).frames
                var found = false
                for picture in syntax.pictures.indices {
                    for slice in syntax.pictures[picture].indices {
                        for index in syntax.pictures[picture][slice].macroblocks.indices where !found {
                            // The decoder's pictures deteriorate from the change on, so any difference suffices.
                            found = change(&syntax.pictures[picture][slice].macroblocks[index])
                        }
                    }
                }
                #expect(found, "nowhere to change the \(name)")
                let changed = ForeignDecoder.libavcodec.decode(syntax.stream(cabac: cabac))
                let noticed = changed.frames != whole || !changed.messages.isEmpty
                #expect(noticed, "changing the \(name) goes unnoticed, CABAC \(cabac)")
            }
        }
    }

    /// Changes of one element each; a change returns false if the macroblock has no such element.
    private var changes: [(String, (inout MacroblockSyntax) -> Bool)] {
        [
            (
                "luma level",
                { macroblock in
                    guard macroblock.codedBlockPattern & 1 != 0, macroblock.kind != .intra16x16 else { return false }
                    macroblock.setLevel(0, 9)
                    macroblock.setNonZeroCount(0, 1)
                    return true
                }
            ),
            (
                "intra 16×16 DC level",
                { macroblock in
                    guard macroblock.kind == .intra16x16 else { return false }
                    macroblock.setLevel(MacroblockLevels.lumaDC, 9)
                    macroblock.setNonZeroCount(MacroblockLevels.lumaDCBlock, 1)
                    return true
                }
            ),
            (
                "chroma DC level",
                { macroblock in
                    guard macroblock.codedBlockPattern >> 4 != 0 else { return false }
                    macroblock.setLevel(MacroblockLevels.chromaDC + 4, 11)
                    return true
                }
            ),
            (
                "chroma AC level",
                { macroblock in
                    guard macroblock.codedBlockPattern >> 4 == 2 else { return false }
                    macroblock.setLevel(MacroblockLevels.chromaAC + 16 * 5 + 3, 11)
                    macroblock.setNonZeroCount(MacroblockLevels.chromaACBlock + 5, 1)
                    return true
                }
            ),
            (
                "quantizer",
                { macroblock in
                    guard macroblock.codedBlockPattern & 15 != 0, macroblock.qpDelta < 0 else { return false }
                    macroblock.qpDelta += 1
                    return true
                }
            ),
            (
                "chroma mode",
                { macroblock in
                    guard macroblock.kind.isIntra, macroblock.intraChromaMode != 0 else { return false }
                    macroblock.intraChromaMode = 0
                    return true
                }
            ),
            (
                "motion",
                { macroblock in
                    guard macroblock.kind == .inter8x8 else { return false }
                    macroblock.setMotion(3, reference: 0, difference: MotionVector(9, -7))
                    return true
                }
            ),
        ]
    }

    /// I slices without coded data are gray, and P slices repeat the previous picture. The header ends at any bit
    /// offset.
    @Test(arguments: [false, true]) func slicesWithoutResidualDecodeToGray(_ cabac: Bool) {
        let width = 40
        let height = 23
        var sequence = H264SequenceParameterSet()
        sequence.pic_order_cnt_type = 2
        sequence.pic_width_in_mbs = width
        sequence.pic_height_in_map_units = height
        var picture = H264PictureParameterSet()
        picture.entropy_coding_mode_flag = cabac
        picture.deblocking_filter_control_present_flag = true
        var stream = sequence.nalUnit() + picture.nalUnit()
        for index in 0..<12 {
            for part in 0..<3 {
                var slice = EntropySlice()
                slice.type = index == 0 ? .i : .p
                slice.cabac = cabac
                slice.qp = index < 6 ? 30 : 20 + index
                slice.firstMacroblock = part * 300
                var header = H264SliceHeader()
                header.isIDR = index == 0
                header.nal_ref_idc = 1
                header.slice_type = Int(slice.type.rawValue)
                header.frame_num = index % 16
                header.first_mb_in_slice = slice.firstMacroblock
                header.num_ref_idx_active = [index == 0 ? 0 : 1, 0]
                header.slice_alpha_c0_offset_div2 = index % 5
                header.slice_qp_delta = slice.qp - 26
                let count = part < 2 ? 300 : width * height - 600
                let bits = header.bits(sequence: sequence, picture: picture)
                stream += slice.withoutResidual(count: count, bits, width: width)
            }
        }
        for decoder in ForeignDecoder.all(for: .h264) {
            let decoded = decoder.decode(stream)
            #expect(decoded.messages.isEmpty, "\(decoder): \(decoded.messages.prefix(3))")
            #expect(decoded.frames.count == 12)
            let gray = decoded.frames.allSatisfy { $0.bytes.allSatisfy { $0 == 128 } }
            #expect(gray)
        }
    }
}

extension EntropySlice {
    /// Returns the NAL unit of a slice without a residual: intra 16×16 macroblocks with DC prediction in I slices,
    /// otherwise skipped macroblocks.
    func withoutResidual(count: Int, _ header: SliceHeaderBits, width: Int) -> [UInt8] {
        var macroblock = MacroblockSyntax()
        macroblock.kind = type == .i ? .intra16x16 : .skip
        macroblock.intra16x16Mode = 2
        let writer = SliceEntropyWriter(widthInMacroblocks: width)
        writer.begin(self, header: header)
        for index in 0..<count { writer.write(macroblock, address: firstMacroblock + index) }
        return writer.finish()
    }
}
