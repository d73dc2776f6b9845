import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Tests reference lists in slice headers.
@Suite struct HeaderReferenceTests {
    /// Implements 8.2.4.3.1 and 8.2.4.3.2 as in the standard's pseudo code.
    private func modified(
        _ initial: [ReferenceFrame], by commands: [H264SliceHeader.ReferenceListModification], count: Int,
        order: ReferenceOrder
    ) -> [ReferenceFrame?] {
        var list: [ReferenceFrame?] = Array(initial.prefix(count))
        while list.count <= count { list.append(nil) }
        var predicted = order.frame_num
        for (position, command) in commands.enumerated() {
            var chosen: ReferenceFrame
            if command.modification_of_pic_nums_idc == 2 {
                chosen = initial.first { $0.isLongTerm && $0.index == command.value }!
            } else {
                let difference = command.value + 1
                if command.modification_of_pic_nums_idc == 0 {
                    predicted -= difference
                    if predicted < 0 { predicted += order.maxFrameNum }
                } else {
                    predicted += difference
                    if predicted >= order.maxFrameNum { predicted -= order.maxFrameNum }
                }
                let number = predicted > order.frame_num ? predicted - order.maxFrameNum : predicted
                chosen = initial.first { !$0.isLongTerm && order.pictureNumber($0) == number }!
            }
            for index in stride(from: count, to: position, by: -1) { list[index] = list[index - 1] }
            list[position] = chosen
            var next = position + 1
            for index in (position + 1)...count where list[index] != chosen {
                list[next] = list[index]
                next += 1
            }
        }
        return Array(list.prefix(count))
    }

    /// Sweeps every list of up to four of four references, with repetitions, at every state of frame_num's wrap.
    @Test func modificationsReachEveryList() {
        for frame_num in [3, 5, 14, 0] {
            let order = ReferenceOrder(frame_num: frame_num, maxFrameNum: 16)
            let frames = [
                ReferenceFrame(index: (frame_num + 15) % 16), ReferenceFrame(index: (frame_num + 13) % 16),
                ReferenceFrame(index: 2, isLongTerm: true), ReferenceFrame(index: 0, isLongTerm: true),
            ]
            let initial = order.initialP(frames)
            #expect(initial.map(\.isLongTerm) == [false, false, true, true])
            #expect(initial[0] == frames[0] && initial[2] == frames[3])
            for length in 1...4 {
                for code in 0..<(1 << (2 * length)) {
                    let expected = (0..<length).map { frames[code >> (2 * $0) & 3] }
                    let commands = order.modifications(from: initial, to: expected)
                    #expect(modified(initial, by: commands, count: length, order: order) == expected)
                    if expected == Array(initial.prefix(length)) { #expect(commands.isEmpty) }
                }
            }
        }
    }

    @Test func initialListsOfBMatchTheStandard() {
        let order = ReferenceOrder(frame_num: 6, maxFrameNum: 16)
        let frames = [
            ReferenceFrame(index: 1, pictureOrderCount: 2), ReferenceFrame(index: 2, pictureOrderCount: 14),
            ReferenceFrame(index: 3, pictureOrderCount: 6), ReferenceFrame(index: 4, pictureOrderCount: 10),
        ]
        let lists = order.initialB(frames, pictureOrderCount: 8)
        #expect(lists.map { $0.map(\.pictureOrderCount) } == [[6, 2, 10, 14], [10, 14, 6, 2]])
        // If the lists are equal and have more than one entry, the first two entries of the second list are swapped.
        let past = order.initialB(frames, pictureOrderCount: 20)
        #expect(past.map { $0.map(\.pictureOrderCount) } == [[14, 10, 6, 2], [10, 14, 6, 2]])
    }

    /// Four pictures of random content are followed by a P picture of skipped macroblocks, for each picture that
    /// ref_idx 0 may select: the decoder must show the first picture of the client's list.
    @Test func decodersFollowTheLists() {
        var options = RandomSyntax.Options()
        options.pictures = 4
        options.transform8x8 = true
        // Pictures without coded data repeat the previous one, so a stream with four different pictures is needed.
        let syntax = (0..<50).lazy.map { RandomSyntax(seed: $0, options: options) }.first {
            Set(ForeignDecoder.libavcodec.decode($0.stream(cabac: false)).frames).count == 4
        }
        guard let syntax else {
            Issue.record("no four different pictures")
            return
        }
        for expected in [[0], [1], [2], [3], [2, 0, 1], [1, 1, 3], [0, 3, 2, 1]] {
            var buffers = ClientBuffers()
            unsafe buffers.sequence.seq_fields.bits.pic_order_cnt_type = 2
            unsafe buffers.sequence.seq_fields.bits.log2_max_frame_num_minus4 = 0
            unsafe buffers.picture.pic_fields.bits.transform_8x8_mode_flag = 1
            buffers.setInter(type: 0, frame_num: 4, order: 8)
            buffers.slice.num_ref_idx_active_override_flag = 1
            buffers.slice.num_ref_idx_l0_active_minus1 = UInt8(expected.count - 1)
            buffers.slice.disable_deblocking_filter_idc = 1
            buffers.setReferences((0..<4).map { ClientBuffers.reference(UInt32($0)) })
            buffers.setList0(expected.map { ClientBuffers.reference(UInt32($0)) })
            let decoded = ForeignDecoder.libavcodec.decode(syntax.stream(cabac: false) + buffers.emptySlice)
            #expect(decoded.messages.isEmpty, "\(decoded.messages)")
            #expect(decoded.frames.count == 5)
            for other in 0..<4 {
                let same = decoded.frames.count == 5 && decoded.frames[4] == decoded.frames[other]
                #expect(same == (other == expected[0]), "list \(expected), picture \(other)")
            }
        }
    }
}
