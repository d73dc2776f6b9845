import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Tests requests for long-term references and intra refresh.
@Suite struct ReferenceOptionTests {
    // MARK: Intra refresh

    private func pictures(_ count: Int, seed: UInt64) -> [PlanarFrame] {
        PlanarFrame.movingBox(count, width: 128, height: 96, seed: seed)
    }

    /// Encodes two passes of four pictures each, by columns or rows; returns each picture's bytes and its surface's
    /// samples.
    private func refreshed(_ frames: [PlanarFrame], rows: Bool, cabac: Bool, asks: Bool = true) throws -> (
        pictures: [[UInt8]], shown: [PlanarFrame]
    ) {
        let stream = StreamClient(width: 128, height: 96)
        stream.frames = frames
        var result: (pictures: [[UInt8]], shown: [PlanarFrame]) = ([], [])
        for index in frames.indices {
            var buffers = stream.buffers(cabac: cabac)
            // There are 8 columns and 6 rows; the last part of a pass over rows is empty.
            let part = (index + 3) % 4
            let (first, size) = rows ? (min(2 * part, 6), min(2, 6 - min(2 * part, 6))) : (2 * part, 2)
            if index > 0 && asks {
                buffers.misc = [
                    misc(VAEncMiscParameterTypeRIR, [rows ? 2 : 1, UInt32(first) | UInt32(size) << 16, 0])
                ]
            }
            result.pictures.append(try #require(stream.encode(buffers)))
            result.shown.append(try #require(stream.shown(index)))
        }
        return result
    }

    /// The first picture is replaced by another: pictures are wrong until a pass is over, and correct after it.
    @Test(arguments: [false, true], [false, true])
    func roundOfIntraRefreshRepairsThePicture(rows: Bool, cabac: Bool) throws {
        let stream = try refreshed(pictures(14, seed: 1), rows: rows, cabac: cabac)
        let other = try refreshed(Array(pictures(1, seed: 9)), rows: rows, cabac: cabac)
        for decoder in ForeignDecoder.all(for: .h264) {
            let whole = decoder.decode(stream.pictures.flatMap { $0 })
            #expect(whole.messages == [] && whole.frames == stream.shown, "\(decoder)")
            let joined = decoder.decode(other.pictures[0] + stream.pictures.dropFirst().flatMap { $0 })
            #expect(joined.messages == [] && joined.frames.count == 14, "\(decoder)")
            // Pictures 1 to 4 are one pass: columns are complete with the fourth, rows with the third.
            let healed = rows ? 3 : 4
            for index in 1..<healed { #expect(joined.frames[index] != stream.shown[index], "\(decoder): \(index)") }
            #expect(joined.frames[healed...] == stream.shown[healed...], "\(decoder)")
        }
    }

    @Test func errorsRemainWithoutIntraRefresh() throws {
        let stream = try refreshed(pictures(10, seed: 1), rows: false, cabac: true, asks: false)
        let other = try refreshed(Array(pictures(1, seed: 9)), rows: false, cabac: true, asks: false)
        let joined = ForeignDecoder.libavcodec.decode(other.pictures[0] + stream.pictures.dropFirst().flatMap { $0 })
        #expect(joined.frames.count == 10 && joined.frames[9] != stream.shown[9])
    }

    @Test func insertedIntraHasItsOwnQP() throws {
        func last(_ delta: Int8) throws -> Int {
            let stream = StreamClient(width: 128, height: 96)
            stream.frames = pictures(2, seed: 1)
            _ = try #require(stream.encode())
            var buffers = stream.buffers()
            buffers.misc = [
                misc(VAEncMiscParameterTypeRIR, [1, 0 | 4 << 16, UInt32(UInt8(bitPattern: delta))])
            ]
            return try #require(stream.encode(buffers)).count
        }
        #expect(try last(-8) > last(0) * 3 / 2)
        #expect(try last(8) < last(0) * 3 / 4)
    }

    // MARK: Long-term references

    /// Two scenes that have nothing in common.
    private var scenes: (PlanarFrame, PlanarFrame) { (pictures(1, seed: 1)[0], pictures(1, seed: 13)[0]) }

    private func longTerm(_ picture: VAPictureH264) -> VAPictureH264 {
        var picture = picture
        picture.flags = UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE)
        picture.frame_idx = 0
        return picture
    }

    /// An IDR picture is marked by its flag; when its scene comes back, the reference is available.
    @Test(arguments: [false, true])
    func idrPicturesAreKeptAsLongTermReferences(usesIt: Bool) throws {
        let (one, two) = scenes
        let stream = StreamClient(width: 128, height: 96, kept: 8)
        stream.frames = [one, two, two, two, two, one]
        var (bytes, sizes, shown): ([UInt8], [Int], [PlanarFrame]) = ([], [], [])
        for index in 0..<6 {
            var buffers = stream.buffers(cabac: true)
            buffers.sequence?.max_num_ref_frames = 3
            let kept = longTerm(stream.frame(0))
            if index == 0 {
                buffers.picture!.CurrPic.flags |= UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE)
            } else {
                buffers.picture!.ReferenceFrames.0 = kept
                if index > 1 { buffers.picture!.ReferenceFrames.1 = stream.frame(index - 1) }
                if index > 2 { buffers.picture!.ReferenceFrames.2 = stream.frame(index - 2) }
                let refersToIt = index == 1 || index == 5 && usesIt
                buffers.slices[0].RefPicList0.0 = refersToIt ? kept : stream.frame(index - 1)
            }
            let coded = try #require(stream.encode(buffers))
            shown.append(try #require(stream.shown(index)))
            sizes.append(coded.count)
            bytes += coded
        }
        for decoder in ForeignDecoder.all(for: .h264) {
            let video = decoder.decode(bytes)
            #expect(video.messages == [] && video.frames == shown, "\(decoder)")
        }
        #expect(usesIt ? sizes[5] < sizes[1] / 10 : sizes[5] > sizes[1] / 2, "\(sizes)")
    }

    /// A later picture is marked by commands in its packed header; the loss of the pictures between does no harm.
    @Test func picturesAreMarkedByCommands() throws {
        let (one, two) = scenes
        let stream = StreamClient(width: 128, height: 96, packedHeaders: 0x1f, kept: 8)
        stream.frames = [two, one, two, two, one, one]
        var sequence = H264SequenceParameterSet()
        sequence.profile_idc = 100
        sequence.level_idc = 40
        sequence.max_num_ref_frames = 3
        sequence.pic_width_in_mbs = 8
        sequence.pic_height_in_map_units = 6
        sequence.gaps_in_frame_num_value_allowed_flag = true
        sequence.log2_max_frame_num = 8
        sequence.log2_max_pic_order_cnt_lsb = 8
        sequence.direct_8x8_inference_flag = true
        var set = H264PictureParameterSet()
        set.deblocking_filter_control_present_flag = true
        set.hasHighFields = true
        var (pictures, shown): ([[UInt8]], [PlanarFrame]) = ([], [])
        for index in 0..<6 {
            var buffers = stream.buffers()
            buffers.sequence?.max_num_ref_frames = 3
            var header = H264SliceHeader()
            header.nal_ref_idc = 2
            header.isIDR = index == 0
            header.slice_type = index == 0 ? 2 : 0
            header.frame_num = index
            header.pic_order_cnt_lsb = 2 * index
            header.num_ref_idx_active = [index == 0 ? 0 : 1, 0]
            if index == 1 {
                header.marking = [.init(operation: 4, operands: [1]), .init(operation: 6, operands: [0])]
            }
            let kept = longTerm(stream.frame(1))
            switch index {
            case 0: break
            case 1: buffers.picture!.CurrPic.flags |= UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE)
            case 2:
                // The IDR picture is the only short-term reference.
                buffers.picture!.ReferenceFrames.1 = kept
                buffers.picture!.ReferenceFrames.0 = stream.frame(0)
                buffers.slices[0].RefPicList0.0 = stream.frame(0)
            case 4:
                buffers.picture!.ReferenceFrames.1 = kept
                buffers.slices[0].RefPicList0.0 = kept
                header.modifications = [[.init(idc: 2, value: 0)], []]
            default: buffers.picture!.ReferenceFrames.1 = kept
            }
            buffers.packed = []
            if index == 0 {
                let sets = [sequence.nalUnit(), set.nalUnit()]
                buffers.packed = [
                    (1, 8 * sets[0].count, sets[0], true), (2, 8 * sets[1].count, sets[1], true),
                ]
            }
            let bits = header.bits(sequence: sequence, picture: set)
            buffers.packed.append((3, 8 * bits.prefix.count + bits.bitCount, bits.prefix + bits.payload, false))
            pictures.append(try #require(stream.encode(buffers)))
            shown.append(try #require(stream.shown(index)))
        }
        for decoder in ForeignDecoder.all(for: .h264) {
            let video = decoder.decode(pictures.flatMap { $0 })
            #expect(video.messages == [] && video.frames == shown, "\(decoder)")
        }
        #expect(pictures[4].count < pictures[1].count / 5, "\(pictures.map(\.count))")
        // Pictures 2 and 3 are lost: 4 and 5 do not need them.
        let rest = ForeignDecoder.libavcodec.decode((pictures[..<2] + pictures[4...]).flatMap { $0 })
        #expect(Array(rest.frames.suffix(2)) == Array(shown[4...]))
    }
}
