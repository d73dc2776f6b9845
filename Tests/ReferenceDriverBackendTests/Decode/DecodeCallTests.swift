import CVA
import TestOracles
import Testing

@testable import ReferenceDriver

/// Tests the calls for decoding: what is offered, and what is refused with which status.
@Suite struct DecodeCallTests {
    private typealias Decoder = DecodeClient
    private let idr = DecodeClient.cutOff

    private func parameters(_ surface: VASurfaceID, size: Int = 4) -> VAPictureParameterBufferH264 {
        DecodeClient.parameters(surface, size: size)
    }

    @Test func decodeConfigsAreOffered() {
        let client = Client()
        let mode = (VAConfigAttribDecSliceMode, UInt32(VA_DEC_SLICE_MODE_NORMAL))
        for profile in [
            VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High, VAProfileHEVCMain, VAProfileHEVCMain10,
        ] {
            #expect(client.createConfig(profile, VAEntrypointVLD, [mode]).0 == VA_STATUS_SUCCESS)
        }
        let base = (VAConfigAttribDecSliceMode, UInt32(VA_DEC_SLICE_MODE_BASE))
        #expect(
            client.createConfig(VAProfileH264High, VAEntrypointVLD, [base]).0 == VA_STATUS_ERROR_INVALID_VALUE)
        let config = client.createConfig(VAProfileH264High, VAEntrypointVLD).1
        #expect(client.createContext(config, 8193, 64).0 == VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED)
        #expect(client.createContext(config, 8192, 64).0 == VA_STATUS_SUCCESS)
    }

    @Test func decodeContextsRefuseEncodeBuffers() {
        let decoder = Decoder(VAProfileH264High)
        let size = MemoryLayout<VAPictureParameterBufferH264>.size
        let refused = VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE
        #expect(decoder.client.createBuffer(decoder.context, VAEncCodedBufferType, size: 4096).0 == refused)
        #expect(decoder.client.createBuffer(decoder.context, VAPictureParameterBufferType, size: size).0 == VA_STATUS_SUCCESS)
        #expect(
            decoder.client.createBuffer(decoder.context, VAPictureParameterBufferType, size: size - 1).0
                == VA_STATUS_ERROR_INVALID_PARAMETER)
    }

    @Test func incompletePicturesAreRefused() {
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

    /// The slice ends too early: the picture exists, and is reported as damaged until another one is decoded.
    @Test func damageIsReportedBySync() throws {
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

    /// Header bytes and slice data are random; every call returns a status.
    @Test func randomBytesAreRefusedOrDecoded() {
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
                if round % 2 == 0 { for offset in 12..<sizes[1] where offset % 3 == 0 { slice[offset] = .random(in: 0...255) } }
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
    /// Creates a buffer of one element with exactly this many bytes.
    fileprivate func createBuffer(_ owner: VAContextID, _ type: VABufferType, bytes: [UInt8], size: Int) -> VABufferID {
        var copy = bytes
        return createBuffer(owner, type, size: size, data: &copy).1
    }
}
