import TestOracles
import Testing

/// Each option is proved by the syntax element that it changes, as FFmpeg reads it.
@Suite struct HeaderTests {
    private func headers(_ options: String, frames: Int = 6, width: Int = 96, height: Int = 80) throws -> TraceHeaders {
        let source = try Fixture.carphone.frames(frames).map { $0.cropped(x: 0, y: 0, width: width, height: height) }
        let encoded = try EncodedStream(
            source, options: ["--codec", "h264", "--qp", "30"] + options.split(separator: " ").map(String.init))
        let faults = encoded.faults(frameCount: frames)
        #expect(faults.isEmpty, "\(options)")
        return try TraceHeaders(stream: encoded.stream)
    }

    @Test(arguments: [("baseline", 66, 1), ("main", 77, 0), ("high", 100, 0)])
    func profileSetsItsFields(_ name: String, _ number: Int, _ constraint: Int) throws {
        let found = try headers("--profile \(name)")
        #expect(Set(found["profile_idc"]) == [number])
        if number == 66 {
            #expect(Set(found["constraint_set1_flag"]) == [constraint])
            #expect(Set(found["entropy_coding_mode_flag"]) == [0])
        }
        #expect(Set(found["transform_8x8_mode_flag"]).isSubset(of: number == 100 ? [1] : [0]))
    }

    @Test(arguments: [("cavlc", 0), ("cabac", 1)]) func entropyOptionSetsTheFlag(_ name: String, _ flag: Int) throws {
        #expect(Set(try headers("--entropy \(name)")["entropy_coding_mode_flag"]) == [flag])
    }

    @Test func keyFramesHaveParameterSets() throws {
        let found = try headers("--gop 2")
        let slices = found.units(named: "Slice Header")
        #expect(slices.map { $0["nal_unit_type"] } == [5, 1, 5, 1, 5, 1])
        #expect(slices.map { ($0["slice_type"] ?? 0) % 5 } == [2, 0, 2, 0, 2, 0])
        #expect(slices.map { $0["frame_num"] } == [0, 1, 0, 1, 0, 1])
        let kinds = found.units.map(\.name)
        // ffmpeg reads the first pair twice: as extradata, and in the stream.
        #expect(kinds.filter { $0 == "Sequence Parameter Set" }.count >= 3)
        #expect(kinds.filter { $0 == "Picture Parameter Set" }.count >= 3)
    }

    @Test func consecutiveIDRPicturesHaveDifferentIds() throws {
        let ids = try headers("--gop 1")["idr_pic_id"]
        #expect(ids.count == 6)
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test(arguments: [10, 27, 45]) func qpOptionsSetTheSliceQP(_ qp: Int) throws {
        let source = try Fixture.carphone.frames(4)
        let encoded = try EncodedStream(source, options: ["--codec", "h264", "--qp", "\(qp)", "--qp-i", "\(qp - 3)", "--qp-b", "\(qp + 4)"])
        // The pictures are in coding order, as the headers below: two B pictures follow the P picture that is displayed
        // after them.
        #expect(encoded.reconstruction.pictures.map(\.qp) == [qp - 3, qp, qp + 4, qp + 4])
        let found = try TraceHeaders(stream: encoded.stream)
        let start = try #require(found["pic_init_qp_minus26"].first) + 26
        #expect(found["slice_qp_delta"].map { $0 + start } == [qp - 3, qp, qp + 4, qp + 4])
    }

    @Test(arguments: 1...4) func sliceOptionSetsTheSliceCount(_ count: Int) throws {
        let found = try headers("--slices \(count)", frames: 2)
        let starts = found["first_mb_in_slice"]
        #expect(starts.count == 2 * count)
        #expect(starts.filter { $0 == 0 }.count == 2)
        // Each slice has whole rows of six macroblocks.
        #expect(starts.allSatisfy { $0 % 6 == 0 })
    }

    @Test(arguments: [(96, 80, 0, 0), (50, 38, 7, 5), (66, 70, 7, 5)])
    func croppingFieldsFollowTheSize(_ width: Int, _ height: Int, _ right: Int, _ bottom: Int) throws {
        let found = try headers("", frames: 2, width: width, height: height)
        #expect(found["pic_width_in_mbs_minus1"].first == (width + 15) / 16 - 1)
        #expect(found["pic_height_in_map_units_minus1"].first == (height + 15) / 16 - 1)
        if right == 0 {
            #expect(found["frame_crop_right_offset"].allSatisfy { $0 == 0 })
        } else {
            #expect(found["frame_crop_right_offset"].first == right)
            #expect(found["frame_crop_bottom_offset"].first == bottom)
            #expect(found["frame_crop_left_offset"].first == 0 && found["frame_crop_top_offset"].first == 0)
        }
    }

    @Test func colorAndTimingFieldsFollowTheOptions() throws {
        let found = try headers(
            "--fps 30000/1001 --color-primaries bt709 --color-transfer bt709 --color-matrix bt709 --color-range tv")
        #expect(found["colour_primaries"].first == 1)
        #expect(found["transfer_characteristics"].first == 1)
        #expect(found["matrix_coefficients"].first == 1)
        #expect(found["video_full_range_flag"].first == 0)
        let ticks = try #require(found["num_units_in_tick"].first)
        let scale = try #require(found["time_scale"].first)
        // Two ticks per frame (H.264 E.2.1).
        #expect(scale * 1001 == ticks * 2 * 30000)
    }

    @Test func delimitersOccurOnRequest() throws {
        #expect(try headers("--aud", frames: 3).units(named: "Access Unit Delimiter").count >= 3)
        #expect(try headers("", frames: 3).units(named: "Access Unit Delimiter").isEmpty)
    }

    @Test func forcedKeyFramesAreIDRPictures() throws {
        let types = try headers("--gop 250 --force-key 2,5").units(named: "Slice Header").map { $0["nal_unit_type"] }
        #expect(types == [5, 1, 5, 1, 1, 5])
    }

    @Test func levelFollowsSizeOrRequest() throws {
        // 96×80 at 30 frames/s is within level 1 (H.264 Table A-1: 1485 macroblocks/s, 99 per frame).
        #expect(Set(try headers("--fps 30")["level_idc"]) == [10])
        #expect(Set(try headers("--level 3.1")["level_idc"]) == [31])
    }
}
