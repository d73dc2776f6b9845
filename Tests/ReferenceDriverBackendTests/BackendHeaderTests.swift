import CVA
import TestOracles
import Testing

/// Tests packed headers: they are used unchanged, in any order that clients use, and refused if they contradict the
/// buffers.
@Suite struct BackendHeaderTests {
    private func bits(_ text: String) -> (bytes: [UInt8], count: Int) {
        let digits = text.filter { $0 == "0" || $0 == "1" }.map { UInt8($0 == "1" ? 1 : 0) }
        var bytes = [UInt8](repeating: 0, count: (digits.count + 7) / 8)
        for (index, digit) in digits.enumerated() { bytes[index / 8] |= digit << UInt8(7 - index % 8) }
        return (bytes, digits.count)
    }

    private func exponential(_ value: Int) -> String {
        let code = String(value + 1, radix: 2)
        return String(repeating: "0", count: code.count - 1) + code
    }

    private func fixed(_ value: Int, _ count: Int) -> String {
        let code = String(value, radix: 2)
        return String(repeating: "0", count: count - code.count) + code
    }

    /// Returns a hand-written slice_header for StreamClient's parameter sets (frame_num and POC of 8 bits, deblocking
    /// control).
    private func sliceHeader(
        index: Int, first: Int, qpDelta: String = "1", deblocking: String = "111", type: Int? = nil
    ) -> (type: UInt32, bits: Int, bytes: [UInt8], isEscaped: Bool) {
        let isIDR = index == 0
        var text = exponential(first) + exponential(type ?? (isIDR ? 2 : 0)) + exponential(0) + fixed(index, 8)
        if isIDR { text += exponential(0) }
        text += fixed(2 * index, 8)
        if !isIDR { text += "0" + "0" }
        text += isIDR ? "00" : "0"
        text += qpDelta + deblocking
        let header = bits(text)
        return (3, 32 + header.count, [0, 0, 1, isIDR ? 0x65 : 0x41] + header.bytes, false)
    }

    /// Returns parameter sets that the driver wrote, to send them back as packed headers.
    private func parameterSets() throws -> [[UInt8]] {
        let bytes = try #require(StreamClient(packedHeaders: 0).encode())
        return nalUnits(bytes).prefix(2).map(Array.init)
    }

    @Test(arguments: [false, true], [false, true])
    func packedHeadersAreUsedUnchanged(slicesFirst: Bool, isEscaped: Bool) throws {
        let sets = try parameterSets()
        let stream = StreamClient(packedHeaders: StreamClient.allHeaders)
        let plain = StreamClient()
        var all: [UInt8] = []
        var expected: [UInt8] = []
        for index in 0..<3 {
            var buffers = stream.buffers(slices: 3)
            buffers.slicesFirst = slicesFirst
            let delimiter: [UInt8] = [0, 0, 0, 1, 9, 0xf0]
            let message: [UInt8] = [0, 0, 0, 1, 6, 5, 17] + [UInt8](repeating: 7, count: 16) + [0x61, 0x80]
            buffers.packed = [(4, 48, delimiter, isEscaped)]
            if index == 0 {
                buffers.packed += [(1, 8 * sets[0].count, sets[0], true), (2, 8 * sets[1].count, sets[1], true)]
            }
            buffers.packed.append((4, 8 * message.count, message, isEscaped))
            buffers.packed += [0, 4, 8].map { sliceHeader(index: index, first: $0) }
            let bytes = try #require(stream.encode(buffers))
            let found = nalUnits(bytes).map { $0.drop { $0 == 0 }.dropFirst().first! & 31 }
            #expect(found == (index == 0 ? [9, 7, 8, 6, 5, 5, 5] : [9, 6, 1, 1, 1]))
            #expect(bytes.starts(with: delimiter))
            all += bytes
            expected += try #require(plain.encode(plain.buffers(slices: 3)))
        }
        let decoded = ForeignDecoder.libavcodec.decode(all)
        #expect(decoded.messages == [])
        #expect(decoded.frames.count == 3)
        #expect(decoded.frames == ForeignDecoder.libavcodec.decode(expected).frames)
        #expect(ForeignDecoder.openh264.decode(all).frames == decoded.frames)
    }

    @Test func generatedParameterSetsFollowTheDelimiter() throws {
        let stream = StreamClient(packedHeaders: StreamClient.allHeaders)
        var buffers = stream.buffers()
        // One packed header holds a delimiter and a message.
        let message: [UInt8] = [0, 0, 1, 6, 5, 17] + [UInt8](repeating: 7, count: 16) + [0x61, 0x80]
        let bytes: [UInt8] = [0, 0, 0, 1, 9, 0x10] + message
        buffers.packed = [(4, 8 * bytes.count, bytes, true)]
        let found = nalUnits(try #require(stream.encode(buffers))).map { $0.drop { $0 == 0 }.dropFirst().first! & 31 }
        #expect(found == [9, 7, 8, 6, 5])
    }

    @Test func contradictoryPackedHeadersAreRefused() throws {
        func status(_ header: (type: UInt32, bits: Int, bytes: [UInt8], isEscaped: Bool), at index: Int = 0) -> VAStatus {
            let stream = StreamClient(packedHeaders: StreamClient.allHeaders)
            for _ in 0..<index { _ = stream.encode() }
            var buffers = stream.buffers()
            buffers.packed = [header]
            return stream.send(buffers)
        }
        let invalid = VA_STATUS_ERROR_INVALID_PARAMETER
        #expect(status(sliceHeader(index: 0, first: 0)) == VA_STATUS_SUCCESS)
        #expect(status(sliceHeader(index: 1, first: 0), at: 1) == VA_STATUS_SUCCESS)
        #expect(status(sliceHeader(index: 0, first: 0), at: 1) == invalid, "IDR")
        #expect(status(sliceHeader(index: 0, first: 1)) == invalid, "first_mb_in_slice")
        #expect(status(sliceHeader(index: 1, first: 0, type: 2), at: 1) == invalid, "slice_type")
        #expect(status(sliceHeader(index: 0, first: 0, qpDelta: "010")) == invalid, "slice_qp_delta")
        #expect(status(sliceHeader(index: 0, first: 0, deblocking: "010")) == invalid, "disable_deblocking_filter_idc")
        var short = sliceHeader(index: 0, first: 0)
        short.bits = 40
        #expect(status(short) == invalid, "cut short")
        short.bits = 8 * short.bytes.count + 1
        #expect(status(short) == invalid, "more bits than bytes")
        short.bits = 0
        #expect(status(short) == invalid)
        #expect(status((3, 40, [0, 0, 1, 0x67, 0x42], true)) == invalid, "no slice")
        #expect(status((1, 40, [0, 0, 1, 0x67, 0x42], true)) == invalid, "a broken sequence parameter set")
        #expect(status((9, 40, [0, 0, 1, 0x67, 0x42], true)) == invalid, "no such type")
        // One slice has two headers.
        let stream = StreamClient(packedHeaders: StreamClient.allHeaders)
        var buffers = stream.buffers()
        buffers.packed = [sliceHeader(index: 0, first: 0), sliceHeader(index: 0, first: 0)]
        #expect(stream.send(buffers) == invalid)
        // The config does not name this packed header.
        let plain = StreamClient()
        buffers = plain.buffers()
        buffers.packed = [sliceHeader(index: 0, first: 0)]
        #expect(plain.send(buffers) == invalid)
        // Parameters are sent without data, and data without parameters.
        var parameters = VAEncPackedHeaderParameterBuffer()
        (parameters.type, parameters.bit_length) = (3, 48)
        let client = stream.client
        for isData in [false, true] {
            _ = client.table.vaBeginPicture(client.context, stream.context, stream.sources[0])
            let id =
                isData
                ? client.createBuffer(stream.context, VAEncPackedHeaderDataBufferType, bytes: [0, 0, 1, 0x65])
                : client.createBuffer(stream.context, VAEncPackedHeaderParameterBufferType, parameters)
            #expect(client.render(stream.context, [id]) == (isData ? invalid : VA_STATUS_SUCCESS))
            #expect(client.table.vaEndPicture(client.context, stream.context) == invalid)
        }
    }

    @Test func contradictoryPackedParameterSetsAreRefused() throws {
        let sets = try parameterSets()
        let other = StreamClient(width: 96, height: 48, packedHeaders: StreamClient.allHeaders)
        var buffers = other.buffers()
        buffers.packed = [(1, 8 * sets[0].count, sets[0], true)]
        #expect(other.send(buffers) == VA_STATUS_ERROR_INVALID_PARAMETER, "another size")
        let stream = StreamClient(packedHeaders: StreamClient.allHeaders)
        buffers = stream.buffers(cabac: true)
        buffers.packed = [(2, 8 * sets[1].count, sets[1], true)]
        #expect(stream.send(buffers) == VA_STATUS_ERROR_INVALID_PARAMETER, "another entropy coder")
        #expect(stream.encode() != nil)
    }
}
