import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Tests packed HEVC headers without emulation prevention bytes, and how real drivers change slices and headers.
@Suite struct HEVCDriverBehaviorTests {
    private static let sequenceType = UInt32(VAEncPackedHeaderSequence.rawValue)
    private static let pictureType = UInt32(VAEncPackedHeaderPicture.rawValue)
    private static let sliceType = UInt32(VAEncPackedHeaderSlice.rawValue)

    private func client(_ personality: String?, _ width: Int, _ height: Int, isWide: Bool = false) -> HEVCClient {
        var environment = Environment(isStrict: true)
        environment.personality = personality
        return HEVCClient(
            environment, width: width, height: height, isWide: isWide,
            packedHeaders: personality?.hasPrefix("radeonsi-") == true ? 1 : 0x1f)
    }

    /// Selects AMD's tools: coding trees of 64 without depth, no temporal vectors, the same QP in a whole slice.
    private func simplify(_ buffers: inout HEVCClient.Buffers) {
        buffers.sequence?.max_transform_hierarchy_depth_inter = 0
        buffers.sequence?.max_transform_hierarchy_depth_intra = 0
        buffers.sequence?.seq_fields.bits.sps_temporal_mvp_enabled_flag = 0
        buffers.picture!.collocated_ref_pic_index = 0xff
        buffers.picture!.pic_fields.bits.cu_qp_delta_enabled_flag = 0
        for index in buffers.slices.indices {
            buffers.slices[index].slice_fields.bits.slice_temporal_mvp_enabled_flag = 0
        }
    }

    /// Packs the headers that match the buffers; `sequence` is the first picture's, which stays active.
    private func pack(
        _ buffers: inout HEVCClient.Buffers, _ sequence: VAEncSequenceParameterBufferHEVC, isEscaped: Bool,
        window: HEVCSequenceParameterSet.Window? = nil
    ) {
        var header = HEVCSequenceParameterSet(sequence)
        header.window = window
        let picture = HEVCPictureParameterSet(buffers.picture!)
        var sets: [(UInt32, [UInt8])] = []
        if buffers.sequence != nil {
            sets = [
                (Self.sequenceType, HEVCVideoParameterSet(header).nalUnit()), (Self.sequenceType, header.nalUnit()),
                (Self.pictureType, picture.nalUnit()),
            ]
        }
        for (type, unit) in sets {
            let raw = Array(unit.prefix(6)) + EmulationPrevention.unescape(unit.dropFirst(6))
            let bytes = isEscaped ? unit : raw
            buffers.packed.append((type, 8 * bytes.count, bytes, isEscaped))
        }
        for slice in buffers.slices {
            let bits = HEVCSliceHeader(slice, picture: buffers.picture!, sequence: header, picture: picture)
                .bits(sequence: header, picture: picture)
            buffers.packed.append(
                (Self.sliceType, 8 * bits.prefix.count + bits.bitCount, bits.prefix + bits.payload, false))
        }
    }

    /// The driver escapes unescaped headers: the stream is the same as that of a client which escapes them itself.
    @Test(arguments: [false, true]) func unescapedPackedHeadersAreEscaped(isWide: Bool) throws {
        func run(isEscaped: Bool) throws -> HEVCRun {
            let stream = client(nil, 136, 72, isWide: isWide)
            let sequence = try #require(stream.buffers(HEVCClient.lowDelay(1)[0]).sequence)
            return try HEVCRun(stream, HEVCClient.pyramid(1), slices: 2) { _, buffers in
                pack(&buffers, sequence, isEscaped: isEscaped)
            }
        }
        let raw = try run(isEscaped: false)
        raw.judge()
        #expect(try raw.pictures == run(isEscaped: true).pictures)
        // The profile's constraint flags are zeros, so the headers need escapes.
        let escapes = (2..<raw.bytes.count).count { raw.bytes[($0 - 2)...$0].elementsEqual([0, 0, 3]) }
        #expect(escapes > 3)
        #expect(HEVCClient.types(raw.pictures[0]) == [32, 33, 34, 19, 19])
    }

    // MARK: Mesa

    /// Both versions repartition the slices unless they are of one size and have at least four coding trees each.
    @Test(arguments: ["radeonsi-navi21", "radeonsi25-navi31"]) func mesaMakesSlicesEqual(_ name: String) throws {
        // The picture has 6 columns and 5 rows of 64.
        func addresses(_ counts: [Int]) throws -> [Int] {
            let stream = client(name, 384, 320)
            let sequence = try #require(stream.buffers(HEVCClient.lowDelay(1)[0]).sequence)
            let run = try HEVCRun(stream, HEVCClient.lowDelay(3)) { _, buffers in
                var first = 0
                let whole = buffers.slices[0]
                buffers.slices = counts.map { count in
                    var slice = whole
                    slice.slice_segment_address = UInt32(first)
                    slice.num_ctu_in_slice = UInt32(count)
                    first += count
                    return slice
                }
                simplify(&buffers)
                if name.hasPrefix("radeonsi25") {
                    var simple = sequence
                    simple.max_transform_hierarchy_depth_inter = 0
                    simple.max_transform_hierarchy_depth_intra = 0
                    simple.seq_fields.bits.sps_temporal_mvp_enabled_flag = 0
                    pack(&buffers, simple, isEscaped: true)
                }
            }
            run.judge("\(name) \(counts)")
            let slices = try TraceHeaders(stream: run.bytes, codec: "hevc").units(named: "Slice Segment Header")
            let found = slices.map { $0["slice_segment_address"] ?? 0 }
            #expect(found.count % 3 == 0 && found.prefix(found.count / 3).elementsEqual(found.suffix(found.count / 3)))
            return Array(found.prefix(found.count / 3))
        }
        #expect(try addresses([12, 12, 6]) == [0, 12, 24], "as asked")
        #expect(try addresses([6, 18, 6]) == [0, 10, 20])
        #expect(try addresses([6, 24]) == [0, 15])
        #expect(try addresses([2, 2, 3, 2, 2, 3, 2, 2, 3, 9]) == [0, 4, 8, 12, 16, 20, 24, 28])
    }

    /// Mesa 25 rounds the sizes up to steps of 64×16 in the sets that it writes, copies the window unchanged, and adds
    /// cu_qp_delta if QPs change inside pictures.
    @Test func mesa25RewritesParameterSets() throws {
        func run(
            _ width: Int, _ height: Int, window: HEVCSequenceParameterSet.Window?, misc: [[UInt8]] = []
        ) throws -> TraceHeaders {
            let stream = client("radeonsi25-navi31", width, height)
            var sequence = try #require(stream.buffers(HEVCClient.lowDelay(1)[0]).sequence)
            sequence.max_transform_hierarchy_depth_inter = 0
            sequence.max_transform_hierarchy_depth_intra = 0
            sequence.seq_fields.bits.sps_temporal_mvp_enabled_flag = 0
            var bytes: [UInt8] = []
            for plan in HEVCClient.lowDelay(4) {
                var buffers = stream.buffers(plan)
                simplify(&buffers)
                buffers.misc = misc
                pack(&buffers, sequence, isEscaped: true, window: window)
                bytes += try #require(stream.encode(buffers))
            }
            let decoded = ForeignDecoder.all(for: .hevc).map { decoder in
                let video = decoder.decode(bytes, codec: .hevc)
                #expect(video.messages == [] && video.frames.count == 4, "\(decoder)")
                return video.frames
            }
            #expect(decoded[0] == decoded[1])
            let (shownWidth, shownHeight) = (decoded[0][0].width, decoded[0][0].height)
            let cropped = (window?.right ?? 0, window?.bottom ?? 0)
            let coded = ((width + 63) / 64 * 64, (height + 15) / 16 * 16)
            #expect(shownWidth == coded.0 - 2 * cropped.0 && shownHeight == coded.1 - 2 * cropped.1)
            return try TraceHeaders(stream: bytes, codec: "hevc")
        }
        let grown = try run(200, 136, window: nil)
        #expect(grown["pic_width_in_luma_samples"] == [256] && grown["pic_height_in_luma_samples"] == [144])
        #expect(grown["conformance_window_flag"] == [0] && grown["cu_qp_delta_enabled_flag"] == [0])
        let cropped = try run(256, 144, window: .init(right: 28, bottom: 4))
        #expect(cropped["conf_win_right_offset"] == [28] && cropped["conf_win_bottom_offset"] == [4])
        let region = UnsafeMutablePointer<VAEncROI>.allocate(capacity: 1)
        defer { region.deallocate() }
        var whole = VAEncROI()
        whole.roi_rectangle = VARectangle(x: 0, y: 0, width: 64, height: 64)
        whole.roi_value = -4
        region.initialize(to: whole)
        var list = VAEncMiscParameterBufferROI()
        (list.num_roi, list.roi, list.min_delta_qp, list.max_delta_qp) = (1, region, -20, 20)
        list.roi_flags.bits.roi_value_is_qp_delta = 1
        var bytes: [UInt8] = []
        withUnsafeBytes(of: VAEncMiscParameterTypeROI.rawValue) { bytes += $0 }
        withUnsafeBytes(of: list) { bytes += $0 }
        #expect(try run(256, 144, window: nil, misc: [bytes])["cu_qp_delta_enabled_flag"].contains(1))
    }

    /// Mesa 22.3.6 writes its own sets and slice headers, and the previous picture is the only reference.
    @Test func mesa22WritesItsOwnHeaders() throws {
        let stream = client("radeonsi-navi21", 264, 136)
        let run = try HEVCRun(stream, HEVCClient.lowDelay(4)) { _, buffers in simplify(&buffers) }
        let trace = try TraceHeaders(stream: run.bytes, codec: "hevc")
        #expect(trace["pic_width_in_luma_samples"] == [320] && trace["pic_height_in_luma_samples"] == [144])
        #expect(trace["num_short_term_ref_pic_sets"] == [1] && trace["max_transform_hierarchy_depth_inter"] == [4])
        #expect(HEVCClient.types(run.pictures[0]) == [35, 32, 33, 34, 19])
        let decoded = ForeignDecoder.all(for: .hevc).map { $0.decode(run.bytes, codec: .hevc) }
        #expect(decoded.allSatisfy { $0.messages == [] && $0.frames.count == 4 })
        // A surface shows the part of the client's size.
        let parts = decoded.map { $0.frames.map { $0.cropped(x: 0, y: 0, width: 264, height: 136) } }
        let isSame = parts == [run.frames, run.frames]
        #expect(isSame)
        var far = stream.buffers(.init(order: 5, type: 1, lists: [[3], []], unitType: 1))
        simplify(&far)
        #expect(stream.send(far) == VA_STATUS_ERROR_INVALID_PARAMETER, "a reference that is not the picture before")
    }

    // MARK: Intel

    /// Intel's driver passes flags that VAConfigAttribEncHEVCFeatures does not name to the encoder, except for sign
    /// data hiding, which it never enables.
    @Test(arguments: ["iHD-9A49", "iHD-8A52"]) func intelAcceptsUnlistedFeatureFlags(_ name: String) throws {
        func stream() -> HEVCClient {
            var environment = Environment(isStrict: true)
            environment.personality = name
            return HEVCClient(environment, width: 200, height: 136, entrypoint: VAEntrypointEncSliceLP)
        }
        let plans = HEVCClient.lowDelay(3, isGeneralized: true)
        let run = try HEVCRun(stream(), plans) { _, buffers in
            buffers.picture!.pic_fields.bits.constrained_intra_pred_flag = 1
            buffers.slices[0].slice_fields.bits.slice_deblocking_filter_disabled_flag = 1
        }
        run.judge(name)
        let trace = try TraceHeaders(stream: run.bytes, codec: "hevc")
        #expect(trace["strong_intra_smoothing_enabled_flag"] == [1] && trace["constrained_intra_pred_flag"] == [1])
        #expect(trace["slice_deblocking_filter_disabled_flag"] == [1, 1, 1])
        let other = stream()
        var buffers = other.buffers(plans[0])
        buffers.picture!.pic_fields.bits.sign_data_hiding_enabled_flag = 1
        #expect(other.send(buffers) == VA_STATUS_ERROR_INVALID_PARAMETER)
    }

    /// On Intel, all slices of a picture have the same SAO flags; on other drivers each has its own.
    @Test func saoFlagsAreUniformOnIntel() throws {
        func send(_ name: String?, differ: Bool) throws -> (status: VAStatus, run: HEVCRun?) {
            var environment = Environment(isStrict: true)
            environment.personality = name
            let stream = HEVCClient(
                environment, width: 200, height: 200,
                entrypoint: name == nil ? VAEntrypointEncSlice : VAEntrypointEncSliceLP)
            func change(_ buffers: inout HEVCClient.Buffers) {
                buffers.sequence?.seq_fields.bits.sample_adaptive_offset_enabled_flag = 1
                for index in buffers.slices.indices {
                    let isOn: UInt32 = index == 1 && differ ? 0 : 1
                    buffers.slices[index].slice_fields.bits.slice_sao_luma_flag = isOn
                    buffers.slices[index].slice_fields.bits.slice_sao_chroma_flag = index == 2 ? isOn : 1
                }
            }
            let plans = HEVCClient.lowDelay(3, isGeneralized: true)
            var first = stream.buffers(plans[0], slices: 3)
            change(&first)
            stream.paint(0)
            let status = stream.send(first)
            guard status == VA_STATUS_SUCCESS, stream.client.coded(stream.coded) != nil else { return (status, nil) }
            return (status, try HEVCRun(stream, plans, slices: 3) { _, buffers in change(&buffers) })
        }
        #expect(try send("iHD-9A49", differ: true).status == VA_STATUS_ERROR_INVALID_PARAMETER)
        try #require(try send("iHD-9A49", differ: false).run).judge()
        let own = try #require(try send(nil, differ: true).run)
        own.judge()
        let slices = try TraceHeaders(stream: own.bytes, codec: "hevc").units(named: "Slice Segment Header")
        #expect(slices.map { $0["slice_sao_luma_flag"] } == [1, 0, 1, 1, 0, 1, 1, 0, 1])
    }
}
