import CVA
import TestOracles
import Testing

/// Tests reference_frames of a client that packs no headers: references that a reference picture set can express are
/// written to the stream, and others are refused.
@Suite struct HEVCReferenceTests {
    private let invalid = VA_STATUS_ERROR_INVALID_PARAMETER

    /// Returns the status of a picture of order 4 that refers to picture 0 and keeps 2 and 8, with a change.
    private func status(
        _ plan: HEVCClient.Plan = .init(order: 4, type: 1, lists: [[0], []], kept: [2, 8], unitType: 1),
        level: UInt8 = 120, _ change: (inout VAEncPictureParameterBufferHEVC) -> Void = { _ in }
    ) -> VAStatus {
        let stream = HEVCClient(HEVCClient.null)
        var first = stream.buffers(HEVCClient.lowDelay(1)[0])
        first.sequence?.general_level_idc = level
        #expect(stream.encode(first) != nil)
        var buffers = stream.buffers(plan)
        change(&buffers.picture!)
        let status = stream.send(buffers)
        #expect(stream.encode(stream.buffers(HEVCClient.lowDelay(2)[1]))?.isEmpty == false, "the next picture is fine")
        return status
    }

    @Test func duplicateReferencesAreRefused() {
        #expect(status() == VA_STATUS_SUCCESS)
        #expect(status { $0.reference_frames.1.pic_order_cnt = 0 } == invalid, "two of order 0")
        #expect(status { $0.reference_frames.2.pic_order_cnt = 2 } == invalid, "two of order 2, both only kept")
        #expect(status { $0.reference_frames.2.picture_id = $0.reference_frames.1.picture_id } == invalid, "one surface")
        #expect(status { $0.reference_frames.1.pic_order_cnt = 4 } == invalid, "the current order")
        #expect(status { $0.reference_frames.1.picture_id = $0.decoded_curr_pic.picture_id } == invalid)
        #expect(
            status {
                ($0.reference_frames.1.pic_order_cnt, $0.reference_frames.1.flags) = (0, UInt32(VA_PICTURE_HEVC_INVALID))
            } == VA_STATUS_SUCCESS, "an entry that names none")
    }

    @Test func contradictoryReferenceFlagsAreRefused() {
        let (before, after, distant) = (
            UInt32(VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE), UInt32(VA_PICTURE_HEVC_RPS_ST_CURR_AFTER),
            UInt32(VA_PICTURE_HEVC_RPS_LT_CURR)
        )
        #expect(status { $0.reference_frames.0.flags = after } == invalid)
        #expect(status { $0.reference_frames.2.flags = before } == invalid)
        #expect(status { $0.reference_frames.1.flags = before } == VA_STATUS_SUCCESS)
        #expect(status { $0.reference_frames.2.flags = after } == VA_STATUS_SUCCESS)
        #expect(status { $0.reference_frames.1.flags = before | after } == invalid)
        #expect(status { $0.reference_frames.1.flags = before | distant } == invalid)
        #expect(
            status { $0.reference_frames.1.flags = before | UInt32(VA_PICTURE_HEVC_LONG_TERM_REFERENCE) } == invalid)
        // A CRA picture keeps pictures for its leading pictures, and refers to none.
        let start = HEVCClient.Plan(order: 4, type: 2, kept: [0, 2], unitType: 21)
        #expect(status(start) == VA_STATUS_SUCCESS)
        #expect(status(start) { $0.reference_frames.0.flags = before } == invalid)
    }

    /// DeltaPocS0 and DeltaPocS1 have 16 bits; delta_poc_msb_cycle_lt is unsigned, and slice_pic_order_cnt_lsb has 12
    /// bits.
    @Test func referencesOutOfRangeAreRefused() {
        #expect(status { $0.reference_frames.1.pic_order_cnt = 4 - (1 << 15) } == VA_STATUS_SUCCESS)
        #expect(status { $0.reference_frames.1.pic_order_cnt = 3 - (1 << 15) } == invalid)
        #expect(status { $0.reference_frames.2.pic_order_cnt = 3 + (1 << 15) } == VA_STATUS_SUCCESS)
        #expect(status { $0.reference_frames.2.pic_order_cnt = 4 + (1 << 15) } == invalid)
        func distant(_ order: Int32) -> VAStatus {
            status {
                $0.reference_frames.1.flags = UInt32(VA_PICTURE_HEVC_LONG_TERM_REFERENCE)
                $0.reference_frames.1.pic_order_cnt = order
            }
        }
        #expect(distant(-1 << 20) == VA_STATUS_SUCCESS)
        #expect(distant(4095) == VA_STATUS_SUCCESS, "ahead, in the same cycle")
        #expect(distant(4096) == invalid, "in a later cycle")
    }

    /// 136×72 at level 3 allows 12 pictures, including the current one (A.4.2).
    @Test func referencesAboveTheLevelAreRefused() {
        func kept(_ count: Int) -> VAStatus {
            status(.init(order: 15, type: 1, lists: [[0], []], kept: Array(1..<count), unitType: 1), level: 90)
        }
        #expect(kept(15) == VA_STATUS_SUCCESS)
        let small = { (count: Int) in
            status(.init(order: 15, type: 1, lists: [[0], []], kept: Array(1..<count), unitType: 1), level: 30)
        }
        #expect(small(11) == VA_STATUS_SUCCESS)
        #expect(small(12) == invalid)
    }

    /// One long-term picture follows the current one in the same cycle, and one precedes it.
    @Test(arguments: [false, true]) func longTermReferencesOnBothSidesDecode(isWide: Bool) throws {
        let stream = HEVCClient(isWide: isWide)
        var plans = HEVCClient.lowDelay(1)
        plans.append(.init(order: 6, type: 1, lists: [[0], []], unitType: 1))
        plans.append(.init(order: 2, type: 0, lists: [[0, 6], [6]], unitType: 1, longTerm: [6]))
        plans.append(.init(order: 3, type: 0, lists: [[2], [6]], kept: [], unitType: 0, longTerm: [6]))
        let run = try HEVCRun(stream, plans)
        run.judge()
        #expect(try TraceHeaders(stream: run.bytes, codec: "hevc")["num_long_term_pics"].contains(1))
    }
}
