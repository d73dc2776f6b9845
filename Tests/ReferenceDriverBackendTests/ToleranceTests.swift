import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Tests input that real drivers accept against va.h or interpret differently: the driver encodes it, and refuses it in
/// strict mode.
@Suite struct ToleranceTests {
    typealias Change = (inout StreamClient.Buffers) -> Void

    private let refused = VA_STATUS_ERROR_INVALID_PARAMETER

    private static func client(isStrict: Bool) -> Client { Client(Environment(isStrict: isStrict)) }

    private func expect(
        onPicture index: Int = 0, rateControl: Int32 = VA_RC_CQP, packedHeaders: UInt32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation, _ change: Change
    ) {
        for isStrict in [true, false] {
            let stream = StreamClient(
                Self.client(isStrict: isStrict), packedHeaders: packedHeaders, rateControl: rateControl)
            for _ in 0..<index { #expect(stream.encode() != nil) }
            stream.paint()
            var buffers = stream.buffers()
            change(&buffers)
            #expect(stream.send(buffers) == (isStrict ? refused : VA_STATUS_SUCCESS), sourceLocation: sourceLocation)
        }
    }

    @Test func unknownLevelsAreTolerated() {
        for level: UInt8 in [0, 1, 14, 63, 255] { expect { $0.sequence!.level_idc = level } }
        for isStrict in [true, false] {
            for level: UInt8 in [0, 31, 120 + 1, 254] {
                let stream = HEVCClient(Environment(isStrict: isStrict))
                var buffers = stream.buffers(HEVCClient.lowDelay(1)[0])
                buffers.sequence!.general_level_idc = level
                #expect(stream.send(buffers) == (isStrict ? refused : VA_STATUS_SUCCESS))
            }
        }
    }

    @Test func ratePercentagesOutOfRangeAreTolerated() {
        func rate(_ percentage: UInt32) -> [[UInt8]] { [RateWords(bitrate: 500_000, percentage: percentage).buffer] }
        for mode in [VA_RC_CBR, VA_RC_VBR] {
            for percentage: UInt32 in [0, 101, 500, .max] { expect(rateControl: mode) { $0.misc = rate(percentage) } }
        }
        expect { $0.misc = [misc(VAEncMiscParameterTypeFrameRate, [0])] }
        for (units, scale) in [(0, 0), (0, 50), (1, 0)] as [(UInt32, UInt32)] {
            expect {
                $0.sequence!.vui_parameters_present_flag = 1
                $0.sequence!.vui_fields.bits.timing_info_present_flag = 1
                ($0.sequence!.num_units_in_tick, $0.sequence!.time_scale) = (units, scale)
            }
        }
    }

    @Test func missingReferenceCountIsTolerated() {
        for isStrict in [true, false] {
            let stream = StreamClient(Self.client(isStrict: isStrict))
            var buffers = stream.buffers()
            buffers.sequence!.max_num_ref_frames = 0
            #expect(stream.encode(buffers) != nil, "no picture has a reference yet")
            #expect(stream.send(stream.buffers()) == (isStrict ? refused : VA_STATUS_SUCCESS))
        }
    }

    @Test func firstPictureWithoutIDRIsTolerated() throws {
        for isStrict in [true, false] {
            let stream = StreamClient(Self.client(isStrict: isStrict))
            var buffers = stream.buffers()
            buffers.picture!.pic_fields.bits.idr_pic_flag = 0
            #expect(stream.send(buffers) == (isStrict ? refused : VA_STATUS_SUCCESS))
            let hevc = HEVCClient(Environment(isStrict: isStrict))
            var plan = HEVCClient.lowDelay(1)[0]
            var others = hevc.buffers(plan)
            plan.unitType = 1
            others.picture!.nal_unit_type = 1
            others.picture!.pic_fields.bits.idr_pic_flag = 0
            #expect(hevc.send(others) == (isStrict ? refused : VA_STATUS_SUCCESS))
        }
    }

    /// radeonsi uses CurrPic's order, iHD the slice's.
    @Test func differingPictureOrdersAreTolerated() throws {
        expect(onPicture: 1) { $0.slices[0].pic_order_cnt_lsb += 2 }
        expect(onPicture: 1) { $0.picture!.CurrPic.TopFieldOrderCnt += 2 }
        // The number is the same in eight bits.
        for isStrict in [true, false] {
            let stream = StreamClient(Self.client(isStrict: isStrict))
            #expect(stream.encode() != nil)
            var buffers = stream.buffers()
            buffers.picture!.CurrPic.TopFieldOrderCnt += 256
            #expect(stream.send(buffers) == VA_STATUS_SUCCESS)
        }
    }

    /// A packed slice header belongs to one picture, and the buffers to another.
    @Test func packedHeaderOfAnotherPictureIsTolerated() throws {
        let plain = StreamClient(Self.client(isStrict: true))
        _ = plain.encode()
        let second = try #require(plain.encode())
        for isStrict in [true, false] {
            let stream = StreamClient(Self.client(isStrict: isStrict), packedHeaders: StreamClient.allHeaders)
            #expect(stream.encode() != nil)
            #expect(stream.encode() != nil)
            var buffers = stream.buffers()
            // VAEncPackedHeaderSlice; the bytes end after the header.
            buffers.packed = [(3, 8 * 5 + Self.headerBits, Array(second.prefix(5 + (Self.headerBits + 7) / 8)), true)]
            #expect(stream.send(buffers) == (isStrict ? refused : VA_STATUS_SUCCESS))
        }
    }

    /// The elements of a P slice of StreamClient: first_mb_in_slice 1 bit, slice_type 1, pic_parameter_set_id 1,
    /// frame_num 8, order 8, the override flag, the modification flag, adaptive marking, slice_qp_delta 1, and the
    /// three filter elements 1 each.
    private static let headerBits = 1 + 1 + 1 + 8 + 8 + 1 + 1 + 1 + 1 + 3

    /// avcenc packs an SEI message as raw data, even if the config does not allow it.
    @Test func unlistedPackedHeadersAreTolerated() throws {
        let sei: [UInt8] = [0, 0, 0, 1, 6, 5, 17] + [UInt8](repeating: 0x55, count: 17) + [0x80]
        for isStrict in [true, false] {
            let stream = StreamClient(Self.client(isStrict: isStrict))
            stream.paint()
            var buffers = stream.buffers()
            buffers.packed = [(UInt32(VAEncPackedHeaderRawData.rawValue), 8 * sei.count, sei, true)]
            #expect(stream.send(buffers) == (isStrict ? refused : VA_STATUS_SUCCESS))
            if isStrict { continue }
            let bytes = try #require(stream.client.coded(stream.coded)?.bytes)
            #expect(bytes.indices.contains { bytes[$0...].starts(with: sei) })
        }
    }

    @Test func rateControlFlagWithoutModeIsTolerated() {
        for isStrict in [true, false] {
            let client = Self.client(isStrict: isStrict)
            let (status, config) = client.createConfig(
                VAProfileH264Main, VAEntrypointEncSlice, [(VAConfigAttribRateControl, UInt32(VA_RC_MB))])
            #expect(status == (isStrict ? VA_STATUS_ERROR_INVALID_VALUE : VA_STATUS_SUCCESS))
            if !isStrict { #expect(client.createContext(config, 64, 64).0 == VA_STATUS_SUCCESS) }
        }
    }

    @Test func wrongSurfaceAttributesAreTolerated() {
        var descriptor = VASurfaceAttrib(VASurfaceAttribExternalBufferDescriptor, 0)
        descriptor.value.type = VAGenericValueTypePointer
        descriptor.value.value.p = nil
        let p010 = VASurfaceAttrib(VASurfaceAttribPixelFormat, VA_FOURCC_P010)
        let prime = VASurfaceAttrib(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2)
        for isStrict in [true, false] {
            let client = Self.client(isStrict: isStrict)
            #expect(client.createSurfaces(64, 64, 1, [descriptor]).0 == (isStrict ? refused : VA_STATUS_SUCCESS))
            let (status, ids) = client.createSurfaces(64, 64, 1, [p010])
            #expect(status == (isStrict ? VA_STATUS_ERROR_INVALID_VALUE : VA_STATUS_SUCCESS))
            if !isStrict { #expect(client.derive(ids[0]).1.format.fourcc == UInt32(VA_FOURCC_P010)) }
            #expect(client.createSurfaces(64, 64, 1, [prime, descriptor]).0 == refused, "there is no memory")
        }
    }

    @Test func emptyAndUnusedBuffersAreTolerated() {
        for isStrict in [true, false] {
            let stream = StreamClient(Self.client(isStrict: isStrict))
            let expected = isStrict ? refused : VA_STATUS_SUCCESS
            #expect(stream.client.createBuffer(stream.context, VAEncMiscParameterBufferType, size: 4).0 == expected)
            let decoder = stream.client.createConfig(VAProfileHEVCMain, VAEntrypointVLD).1
            let context = stream.client.createContext(decoder, 64, 64).1
            #expect(
                stream.client.createBuffer(context, VAQMatrixBufferType, size: MemoryLayout<VAQMatrixBufferHEVC>.size).0
                    == expected)
        }
    }

    /// The contexts are of 192×192 for streams of 176×144: hevcencode makes contexts of whole blocks of 64.
    @Test func contextsLargerThanTheSequenceAreTolerated() throws {
        for isStrict in [true, false] {
            let client = Self.client(isStrict: isStrict)
            let large = StreamClient(client, width: 192, height: 192)
            let stream = StreamClient(client, width: 176, height: 144)
            var buffers = large.buffers()
            buffers.sequence!.picture_width_in_mbs = 11
            buffers.sequence!.picture_height_in_mbs = 9
            buffers.slices[0].num_macroblocks = 99
            let bytes = large.encode(buffers)
            #expect((bytes == nil) == isStrict)
            guard let bytes else { continue }
            var next = large.buffers()
            next.slices[0].num_macroblocks = 99
            let all = bytes + (try #require(large.encode(next)))
            let plain = try #require(stream.encode()) + (try #require(stream.encode()))
            for decoder in ForeignDecoder.all(for: .h264) {
                let video = decoder.decode(all)
                #expect(video.messages == [] && video.frames == decoder.decode(plain).frames, "\(decoder)")
            }
        }
    }

    @Test func hevcContextsLargerThanTheSequenceAreTolerated() throws {
        for isStrict in [true, false] {
            let large = HEVCClient(Environment(isStrict: isStrict), width: 192, height: 192)
            let stream = HEVCClient(width: 136, height: 72)
            var bytes: [UInt8] = []
            for plan in HEVCClient.lowDelay(2) {
                var buffers = large.buffers(plan)
                buffers.sequence?.pic_width_in_luma_samples = 136
                buffers.sequence?.pic_height_in_luma_samples = 72
                buffers.slices[0].num_ctu_in_slice = 6
                let coded = large.encode(buffers)
                #expect((coded == nil) == isStrict)
                bytes += coded ?? []
            }
            if isStrict { continue }
            let plain = HEVCClient.lowDelay(2).flatMap { stream.encode(stream.buffers($0)) ?? [] }
            for decoder in ForeignDecoder.all(for: .hevc) {
                let video = decoder.decode(bytes, codec: .hevc)
                #expect(video.messages == [] && video.frames == decoder.decode(plain, codec: .hevc).frames, "\(decoder)")
            }
        }
    }

    /// GStreamer names Main for Main 10, and hevcencode names no profile: the stream has the config's profile.
    @Test(arguments: [false, true], [0, 1, 3] as [UInt8])
    func wrongProfileIsTolerated(isWide: Bool, profile: UInt8) throws {
        let expected: UInt8 = isWide ? 2 : 1
        for isStrict in [true, false] where profile != expected {
            let stream = HEVCClient(Environment(isStrict: isStrict), isWide: isWide)
            var buffers = stream.buffers(HEVCClient.lowDelay(1)[0])
            buffers.sequence!.general_profile_idc = profile
            let bytes = stream.encode(buffers)
            #expect((bytes == nil) == isStrict)
            guard let bytes else { continue }
            let trace = try TraceHeaders(stream: bytes, codec: "hevc")
            #expect(Set(trace["general_profile_idc"]) == [Int(expected)])
        }
    }

    /// As with hevcencode, surfaces have 8 bits for an encoder of 10 bits; reconstructions have either.
    @Test func surfacesOfAnotherDepthAreTolerated() throws {
        for isStrict in [true, false] {
            let stream = HEVCClient(Environment(isStrict: isStrict), isWide: true)
            let narrow = stream.client.createSurfaces(136, 72).1[0]
            let begun = stream.client.table.vaBeginPicture(stream.client.context, stream.context, narrow)
            #expect(begun == (isStrict ? VA_STATUS_ERROR_INVALID_SURFACE : VA_STATUS_SUCCESS))
            if isStrict { continue }
            _ = stream.client.table.vaEndPicture(stream.client.context, stream.context)
            var buffers = stream.buffers(HEVCClient.lowDelay(1)[0])
            buffers.picture!.decoded_curr_pic.picture_id = narrow
            let bytes = try #require(stream.encode(buffers))
            let frame = try #require(ForeignDecoder.libavcodec.decode(bytes, codec: .hevc).frames.first)
            let image = stream.client.derive(narrow).1
            let base = try #require(stream.client.map(image.buf).1).assumingMemoryBound(to: UInt8.self)
            for y in 0..<72 {
                for x in 0..<136 {
                    let offset = 2 * (y * 136 + x)
                    let value = Int(frame.bytes[offset]) | Int(frame.bytes[offset + 1]) << 8
                    try #require(Int(base[y * Int(image.pitches.0) + x]) == value >> 2)
                }
            }
        }
    }
}
