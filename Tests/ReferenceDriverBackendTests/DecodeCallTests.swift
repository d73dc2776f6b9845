import CVA
import TestOracles
import Testing

@testable import ReferenceDriver

/// Decoding as calls: what is offered, and what is refused and with which status.
@Suite struct DecodeCallTests {
    /// A client with a context that decodes.
    private struct Decoder {
        let client = Client()
        let context: VAContextID
        let surfaces: [VASurfaceID]

        init(_ profile: VAProfile, width: Int = 64, height: Int = 64, format: Int32 = VA_RT_FORMAT_YUV420) {
            let config = client.createConfig(profile, VAEntrypointVLD).1
            surfaces = client.createSurfaces(width, height, 3, format: format).1
            context = client.createContext(config, width, height, targets: surfaces).1
        }

        func begin(_ surface: VASurfaceID) -> VAStatus { client.table.vaBeginPicture(client.context, context, surface) }
        func end() -> VAStatus { client.table.vaEndPicture(client.context, context) }
        func sync(_ surface: VASurfaceID) -> VAStatus { client.table.vaSyncSurface(client.context, surface) }

        /// Sends an H.264 picture with one slice.
        func send(
            _ surface: VASurfaceID, _ parameters: VAPictureParameterBufferH264, data: [UInt8],
            change: (inout VASliceParameterBufferH264) -> Void = { _ in }
        ) -> VAStatus {
            guard begin(surface) == VA_STATUS_SUCCESS else { return .max }
            var slice = VASliceParameterBufferH264()
            slice.slice_data_size = UInt32(data.count)
            slice.slice_type = 2
            change(&slice)
            let buffers = [
                client.createBuffer(context, VAPictureParameterBufferType, parameters),
                client.createBuffer(context, VASliceParameterBufferType, slice),
                client.createBuffer(context, VASliceDataBufferType, bytes: data),
            ]
            guard client.render(context, buffers) == VA_STATUS_SUCCESS else { return .max }
            return end()
        }
    }

    private func parameters(_ surface: VASurfaceID, size: Int = 4) -> VAPictureParameterBufferH264 {
        var picture = VAPictureParameterBufferH264()
        picture.CurrPic.picture_id = surface
        withUnsafeMutableBytes(of: &picture.ReferenceFrames) { bytes in
            for frame in bytes.bindMemory(to: VAPictureH264.self).indices {
                bytes.bindMemory(to: VAPictureH264.self)[frame].picture_id = VA_INVALID_ID
                bytes.bindMemory(to: VAPictureH264.self)[frame].flags = UInt32(VA_PICTURE_H264_INVALID)
            }
        }
        picture.picture_width_in_mbs_minus1 = UInt16(size - 1)
        picture.picture_height_in_mbs_minus1 = UInt16(size - 1)
        picture.num_ref_frames = 1
        picture.seq_fields.bits.chroma_format_idc = 1
        picture.seq_fields.bits.frame_mbs_only_flag = 1
        picture.seq_fields.bits.direct_8x8_inference_flag = 1
        picture.seq_fields.bits.pic_order_cnt_type = 2
        return picture
    }

    /// An IDR slice's header, by hand: first_mb 0, type 7, set 0, frame_num 0 of 4 bits, idr_pic_id 0, marking 00,
    /// slice_qp_delta 0; then 16 macroblocks cut off.
    private let idr: [UInt8] = [0x65, 0x88, 0x84, 0x00, 0x10, 0xff, 0xfe, 0xf6]

    @Test func configsAreOfWhatIsDecoded() {
        let client = Client()
        let mode = (VAConfigAttribDecSliceMode, UInt32(VA_DEC_SLICE_MODE_NORMAL))
        for profile in [
            VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High, VAProfileHEVCMain, VAProfileHEVCMain10,
        ] {
            #expect(client.createConfig(profile, VAEntrypointVLD, [mode]).0 == VA_STATUS_SUCCESS)
        }
        let base = (VAConfigAttribDecSliceMode, UInt32(VA_DEC_SLICE_MODE_BASE))
        #expect(
            client.createConfig(VAProfileH264High, VAEntrypointVLD, [base]).0 == VA_STATUS_ERROR_ATTR_NOT_SUPPORTED)
        let config = client.createConfig(VAProfileH264High, VAEntrypointVLD).1
        #expect(client.createContext(config, 8193, 64).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        #expect(client.createContext(config, 8192, 64).0 == VA_STATUS_SUCCESS)
    }

    @Test func buffersAreOfTheContextsKind() {
        let decoder = Decoder(VAProfileH264High)
        let size = MemoryLayout<VAPictureParameterBufferH264>.size
        let refused = VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE
        #expect(decoder.client.createBuffer(decoder.context, VAEncCodedBufferType, size: 4096).0 == refused)
        #expect(decoder.client.createBuffer(decoder.context, VAPictureParameterBufferType, size: size).0 == VA_STATUS_SUCCESS)
        #expect(
            decoder.client.createBuffer(decoder.context, VAPictureParameterBufferType, size: size - 1).0
                == VA_STATUS_ERROR_INVALID_PARAMETER)
    }

    @Test func picturesThatSayNothingAreRefused() {
        let decoder = Decoder(VAProfileH264High)
        let target = decoder.surfaces[0]
        #expect(decoder.begin(target) == VA_STATUS_SUCCESS)
        #expect(decoder.end() == VA_STATUS_ERROR_INVALID_PARAMETER, "nothing rendered")
        let good = parameters(target)
        let refused = VA_STATUS_ERROR_INVALID_PARAMETER
        #expect(decoder.send(target, good, data: idr) { $0.slice_data_offset = 1 } == refused, "beyond the data")
        #expect(decoder.send(target, good, data: idr) { $0.slice_data_size = 0 } == refused, "no data")
        #expect(decoder.send(target, good, data: [0x67, 1, 2, 3]) == refused, "no slice")
        #expect(decoder.send(target, good, data: idr) { $0.slice_data_flag = 2 } == refused, "a middle without a start")
        #expect(decoder.send(target, good, data: [0x65]) == refused, "a header that ends")
        var deep = good
        deep.bit_depth_luma_minus8 = 2
        #expect(decoder.send(target, deep, data: idr) == refused)
        #expect(
            decoder.send(target, parameters(target, size: 5), data: idr) == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        #expect(decoder.sync(target) == VA_STATUS_SUCCESS, "nothing was queued")
    }

    /// A slice that ends too early: the picture is there, and said to be damaged until another one is decoded.
    @Test func damageIsToldAtTheSync() throws {
        let decoder = Decoder(VAProfileH264High)
        let target = decoder.surfaces[0]
        #expect(decoder.send(target, parameters(target), data: idr) == VA_STATUS_SUCCESS)
        #expect(decoder.sync(target) == VA_STATUS_ERROR_DECODING_ERROR)
        var records: UnsafeMutableRawPointer?
        #expect(
            decoder.client.table.vaQuerySurfaceError(
                decoder.client.context, target, VA_STATUS_ERROR_DECODING_ERROR, &records) == VA_STATUS_SUCCESS)
        let errors = try #require(records).assumingMemoryBound(to: VASurfaceDecodeMBErrors.self)
        #expect(errors[0].status == 1 && errors[0].num_mb == 16 && errors[1].status == -1)
        let (status, image) = decoder.client.derive(target)
        #expect(status == VA_STATUS_SUCCESS && decoder.client.map(image.buf).0 == VA_STATUS_SUCCESS)
        #expect(
            decoder.client.table.vaQuerySurfaceError(
                decoder.client.context, decoder.surfaces[1], VA_STATUS_ERROR_DECODING_ERROR, &records)
                == VA_STATUS_SUCCESS)
        let none = try #require(records).assumingMemoryBound(to: VASurfaceDecodeMBErrors.self)
        #expect(none[0].status == -1)
    }

    /// Any bytes behind any header bytes: a status, and never more.
    @Test func anyBytesAreRefusedOrDecoded() {
        var random = SystemRandomNumberGenerator()
        for profile in [VAProfileH264High, VAProfileHEVCMain] {
            let decoder = Decoder(profile)
            for round in 0..<60 {
                let target = decoder.surfaces[round % 3]
                guard decoder.begin(target) == VA_STATUS_SUCCESS else { continue }
                let sizes =
                    profile == VAProfileH264High
                    ? [MemoryLayout<VAPictureParameterBufferH264>.size, MemoryLayout<VASliceParameterBufferH264>.size]
                    : [MemoryLayout<VAPictureParameterBufferHEVC>.size, MemoryLayout<VASliceParameterBufferHEVC>.size]
                var data = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
                data[0] = profile == VAProfileH264High ? 0x65 : 0x26
                var picture = (0..<sizes[0]).map { _ in UInt8.random(in: 0...255, using: &random) }
                var slice = [UInt8](repeating: 0, count: sizes[1])
                slice[0] = 64
                if round % 2 == 0 { for place in 12..<sizes[1] where place % 3 == 0 { slice[place] = .random(in: 0...255) } }
                if profile == VAProfileH264High, round % 3 == 0 { picture = bytes(parameters(target)) }
                let buffers = [
                    decoder.client.createBuffer(decoder.context, VAPictureParameterBufferType, bytes: picture, size: sizes[0]),
                    decoder.client.createBuffer(decoder.context, VASliceParameterBufferType, bytes: slice, size: sizes[1]),
                    decoder.client.createBuffer(decoder.context, VASliceDataBufferType, bytes: data),
                ]
                #expect(decoder.client.render(decoder.context, buffers) == VA_STATUS_SUCCESS)
                _ = decoder.end()
            }
            for surface in decoder.surfaces {
                #expect([VA_STATUS_SUCCESS, VA_STATUS_ERROR_DECODING_ERROR].contains(decoder.sync(surface)))
            }
            #expect(decoder.client.terminate() == VA_STATUS_SUCCESS)
        }
    }

    private func bytes<Value>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
}

extension Client {
    /// A buffer of one element of exactly so many bytes.
    fileprivate func createBuffer(_ owner: VAContextID, _ type: VABufferType, bytes: [UInt8], size: Int) -> VABufferID {
        var copy = bytes
        return createBuffer(owner, type, size: size, data: &copy).1
    }
}

/// References that do not hold what they are named for are refused, and those that clients make up pass.
@Suite struct DecodedPicturesTests {
    private typealias Name = DecodedPictures.Name
    private func mark(_ marks: [VASurfaceID: DecodeMark]) -> (VASurfaceID) -> DecodeMark? { { marks[$0] } }

    @Test func namesAreHeldAgainstSurfaces() throws {
        var pictures = DecodedPictures()
        var marks: [VASurfaceID: DecodeMark] = [:]
        for number in 0..<4 {
            let name = Name(frame: number, top: 2 * number, bottom: 2 * number + 1)
            marks[VASurfaceID(number)] = pictures.note(name, in: VASurfaceID(number), of: 9)
        }
        func reference(_ number: Int, in surface: Int) -> (name: Name, surface: VASurfaceID) {
            (Name(frame: number, top: 2 * number, bottom: 2 * number + 1), VASurfaceID(surface))
        }
        #expect(try pictures.check([reference(1, in: 1), reference(2, in: 2)], mark: mark(marks)))
        #expect(try pictures.check([reference(1, in: 1), reference(7, in: 30)], mark: mark(marks)), "one made up")
        #expect(try !pictures.check([], mark: mark(marks)), "a client that begins anew")
        #expect(try !pictures.check([reference(7, in: 30)], mark: mark(marks)))
        #expect(try !pictures.check([reference(1, in: 2)], mark: mark(marks)), "nothing is where it was: anew")
        #expect(throws: Refusal.self, "one of two is elsewhere") {
            _ = try pictures.check([reference(1, in: 1), reference(2, in: 3)], mark: mark(marks))
        }
        marks[1] = nil
        #expect(throws: Refusal.self, "overwritten by a client") {
            _ = try pictures.check([reference(1, in: 1)], mark: mark(marks))
        }
        // A field refers to one field of a frame; a long-term reference has no frame_num.
        #expect(
            try pictures.check([(Name(frame: nil, top: 4, bottom: nil), VASurfaceID(2))], mark: mark(marks)))
        pictures.forget()
        #expect(try !pictures.check([reference(2, in: 2)], mark: mark(marks)))
    }

    @Test func scansAreTheStandards() {
        #expect(H264DecodeSets.zigzag(4) == [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15])
        #expect(H264DecodeSets.zigzag(8).prefix(10) == [0, 1, 8, 16, 9, 2, 3, 10, 17, 24])
        #expect(HEVCDecodeSets.diagonal(4) == [0, 4, 1, 8, 5, 2, 12, 9, 6, 3, 13, 10, 7, 14, 11, 15])
        #expect(Set(H264DecodeSets.zigzag(8)).count == 64 && Set(HEVCDecodeSets.diagonal(8)).count == 64)
    }
}
