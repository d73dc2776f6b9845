import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Decodes the driver's HEVC streams with foreign decoders.
@Suite struct HEVCDriverStreamTests {
    private static let structures = [
        HEVCClient.lowDelay(6), HEVCClient.lowDelay(6, references: 3), HEVCClient.lowDelay(5, references: 2, isGeneralized: true),
        HEVCClient.pyramid(2),
    ]

    @Test(arguments: [(16, 16), (136, 72), (200, 136), (24, 152)], 0..<4)
    func nullModeStreamIsTinyAndDecodes(size: (Int, Int), structure: Int) throws {
        for (index, (tree, isWide)) in [(6, false), (5, true), (4, false)].enumerated() {
            let stream = HEVCClient(HEVCClient.null, width: size.0, height: size.1, isWide: isWide)
            stream.log2Tree = tree
            let plans = Self.structures[structure]
            var bytes: [UInt8] = []
            for plan in plans {
                let slices = 1 + (plan.order + index) % min(stream.rows, 3)
                bytes += try #require(stream.encode(stream.buffers(plan, slices: slices)))
            }
            #expect(bytes.count < 1500)
            for decoder in ForeignDecoder.all(for: .hevc) {
                let video = decoder.decode(bytes, codec: .hevc)
                #expect(video.messages == [], "\(decoder)")
                #expect(video.frames.count == plans.count)
                #expect(video.frames.allSatisfy { $0.width == size.0 && $0.height == size.1 })
                #expect(video.frames.allSatisfy { $0.bitDepth == (isWide ? 10 : 8) })
            }
        }
    }

    /// The pictures have hashes, which libavcodec compares with its decoded pictures.
    @Test(arguments: [(16, 16), (136, 72), (200, 136)], [false, true])
    func decodersMatchTheDriversHashes(size: (Int, Int), isWide: Bool) throws {
        var environment = Environment(isStrict: true)
        environment.writesHashes = true
        for plans in Self.structures {
            let stream = HEVCClient(environment, width: size.0, height: size.1, isWide: isWide)
            var bytes: [UInt8] = []
            for plan in plans {
                let coded = try #require(stream.encode(stream.buffers(plan, slices: 1 + plan.order % stream.rows)))
                #expect(HEVCClient.types(coded).last == 40)
                bytes += coded
            }
            let pictures = ForeignDecoder.all(for: .hevc).map { decoder in
                let video = decoder.decode(bytes, codec: .hevc)
                #expect(video.messages == [], "\(decoder)")
                #expect(video.frames.count == plans.count)
                return video.frames.map(\.bytes)
            }
            #expect(pictures[0] == pictures[1])
            #expect(Set(pictures[0]).count == plans.count, "the pictures move")
        }
    }

    @Test func headersHoldTheBuffersValues() throws {
        let stream = HEVCClient(HEVCClient.null, width: 200, height: 136)
        var plans = HEVCClient.pyramid(1)
        plans.append(Plan(order: 5, type: 1, lists: [[4, 0], []], unitType: 1, longTerm: [0]))
        var bytes: [UInt8] = []
        for plan in plans {
            var buffers = stream.buffers(plan, slices: 2)
            for index in buffers.slices.indices {
                buffers.slices[index].slice_qp_delta = -3
                buffers.slices[index].slice_cb_qp_offset = 2
                buffers.slices[index].slice_beta_offset_div2 = 4
                buffers.slices[index].slice_tc_offset_div2 = -2
                buffers.slices[index].max_num_merge_cand = 3
                buffers.slices[index].slice_fields.bits.cabac_init_flag = 1
            }
            buffers.picture!.pps_cr_qp_offset = 1
            bytes += try #require(stream.encode(buffers))
        }
        let trace = try TraceHeaders(stream: bytes, codec: "hevc")
        #expect(trace["pic_width_in_luma_samples"] == [200])
        #expect(trace["init_qp_minus26"] == [4] && trace["pps_cr_qp_offset"] == [1])
        let slices = trace.units(named: "Slice Segment Header")
        #expect(slices.count == 2 * plans.count)
        #expect(slices.allSatisfy { $0["slice_qp_delta"] == -3 && $0["slice_cb_qp_offset"] == 2 })
        #expect(slices.allSatisfy { $0["slice_beta_offset_div2"] == 4 && $0["slice_tc_offset_div2"] == -2 })
        #expect(slices.map { $0["slice_type"] } == [2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1])
        #expect(slices.dropFirst(2).allSatisfy { $0["five_minus_max_num_merge_cand"] == 2 && $0["cabac_init_flag"] == 1 })
        #expect(slices.map { $0["slice_pic_order_cnt_lsb"] ?? 0 } == [0, 0, 4, 4, 2, 2, 1, 1, 3, 3, 5, 5])
        #expect(slices.last?["poc_lsb_lt[0]"] == 0 && slices.last?["num_long_term_pics"] == 1)
        #expect(slices.map { $0["slice_segment_address"] ?? 0 } == [0, 4, 0, 4, 0, 4, 0, 4, 0, 4, 0, 4])
    }

    private typealias Plan = HEVCClient.Plan

    /// If the picture allows it, transform_skip_flag is in the stream for every block of 4×4 with levels. The encoder
    /// skips no transform.
    @Test(arguments: [(22, false), (38, false), (22, true), (38, true)])
    func transformSkipFlagIsWrittenOnRequest(qp: Int, isWide: Bool) throws {
        func run(_ isRequested: Bool) throws -> HEVCRun {
            let stream = HEVCClient(width: 176, height: 144, isWide: isWide)
            let frames = try Fixture.carphone.frames().prefix(5)
            stream.frames = isWide ? frames.map(\.widenedTo10Bits) : Array(frames)
            stream.qp = qp
            return try HEVCRun(stream, HEVCClient.pyramid(1)) { _, buffers in
                buffers.picture!.pic_fields.bits.transform_skip_enabled_flag = isRequested ? 1 : 0
            }
        }
        let (plain, requested) = (try run(false), try run(true))
        requested.judge()
        #expect(try TraceHeaders(stream: requested.bytes, codec: "hevc")["transform_skip_enabled_flag"] == [1])
        #expect(requested.bytes != plain.bytes)
    }

    @Test func parameterSetsRepeatAtRandomAccessPoints() throws {
        let stream = HEVCClient(HEVCClient.null)
        let plans = HEVCClient.lowDelay(2)
        #expect(HEVCClient.types(try #require(stream.encode(stream.buffers(plans[0])))) == [32, 33, 34, 19])
        #expect(HEVCClient.types(try #require(stream.encode(stream.buffers(plans[1])))) == [1])
        var changed = stream.buffers(Plan(order: 2, type: 1, lists: [[1], []], unitType: 1))
        changed.picture!.pic_init_qp = 20
        #expect(HEVCClient.types(try #require(stream.encode(changed))) == [34, 1], "a changed picture parameter set")
        let refresh = Plan(order: 3, type: 2, unitType: 21)
        #expect(HEVCClient.types(try #require(stream.encode(stream.buffers(refresh)))) == [32, 33, 34, 21])
    }

    @Test func lastPictureEndsSequenceAndStream() throws {
        let stream = HEVCClient(HEVCClient.null)
        var buffers = stream.buffers(HEVCClient.lowDelay(1)[0])
        buffers.picture!.last_picture = 3
        let bytes = try #require(stream.encode(buffers))
        #expect(bytes.suffix(10) == [0, 0, 1, 72, 1, 0, 0, 1, 74, 1])
    }

    @Test func tilesAndTheirSlicesDecode() throws {
        for (columns, rows, perTile) in [(2, 1, false), (1, 2, true), (3, 2, true), (3, 2, false)] {
            let stream = HEVCClient(HEVCClient.null, width: 776, height: 136)
            stream.tiles = (columns, rows)
            var bytes: [UInt8] = []
            for plan in HEVCClient.lowDelay(4) {
                var buffers = stream.buffers(plan)
                if perTile {
                    let whole = buffers.slices[0]
                    buffers.slices = (0..<rows).flatMap { row in
                        (0..<columns).map { column in
                            var slice = whole
                            let left = stream.columns * column / columns
                            let top = stream.rows * row / rows
                            let width = stream.columns * (column + 1) / columns - left
                            let height = stream.rows * (row + 1) / rows - top
                            slice.slice_segment_address = UInt32(top * stream.columns + left)
                            slice.num_ctu_in_slice = UInt32(width * height)
                            return slice
                        }
                    }
                }
                bytes += try #require(stream.encode(buffers))
            }
            for decoder in ForeignDecoder.all(for: .hevc) {
                let video = decoder.decode(bytes, codec: .hevc)
                #expect(video.messages == [] && video.frames.count == 4, "\(decoder), \(columns)x\(rows)")
            }
        }
    }
}
