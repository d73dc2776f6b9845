import ReferenceDriver
import TestOracles
import Testing

/// Tests what the driver makes of a client's packed headers, with hand-derived bytes.
@Suite struct HeaderPackingTests {
    private func stream(_ data: [UInt8], bits: Int? = nil, emulated: Bool, isRaw: Bool = false) -> [UInt8] {
        PackedHeader(data: data, bitLength: bits ?? 8 * data.count, hasEmulationBytes: emulated)
            .streamBytes(isRaw: isRaw)
    }

    @Test func escapedBytesStayUnchanged() {
        let data: [UInt8] = [0, 0, 0, 1, 0x67, 1, 0, 0, 3, 1, 0x80, 0, 0, 1, 0x68, 0xC0]
        #expect(stream(data, emulated: true) == data)
        #expect(stream(data + [9, 9], bits: 8 * data.count, emulated: true) == data)
    }

    @Test func emulationPreventionIsInserted() {
        #expect(
            stream([0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x80], emulated: false)
                == [0, 0, 0, 1, 0x67, 1, 0, 0, 3, 0, 1, 0x80])
        // There are two units; the field value 0, 0, 1, 0 inside the first is no start code, because 0 is no header.
        #expect(
            stream([0, 0, 1, 0x67, 0, 0, 1, 0, 0x80, 0, 0, 1, 0x68, 0, 0, 2, 0x80], emulated: false)
                == [0, 0, 1, 0x67, 0, 0, 3, 1, 0, 0x80, 0, 0, 1, 0x68, 0, 0, 3, 2, 0x80])
    }

    @Test func missingStartCodesAreAdded() {
        #expect(stream([0x67, 0, 0, 1], emulated: false) == [0, 0, 0, 1, 0x67, 0, 0, 3, 1])
        #expect(stream([0x67, 5], emulated: true) == [0, 0, 0, 1, 0x67, 5])
        #expect(stream([0x67, 5], emulated: true, isRaw: true) == [0x67, 5])
        #expect(stream([], emulated: false) == [])
    }

    @Test func bitsPastTheLengthAreZero() {
        #expect(stream([0, 0, 1, 0x09, 0xFF], bits: 35, emulated: true) == [0, 0, 1, 0x09, 0xE0])
        #expect(stream([0, 0, 1, 0x09, 0xFF], bits: 999, emulated: true) == [0, 0, 1, 0x09, 0xFF])
        #expect(stream([0, 0, 1, 0x09, 0xFF], bits: -1, emulated: true) == [])
    }

    @Test(arguments: [false, true]) func sliceHeadersBecomeBits(_ emulated: Bool) throws {
        // The payload has 27 bits without the emulation prevention byte.
        let payload: [UInt8] = emulated ? [0xAA, 0, 0, 3, 0xE0] : [0xAA, 0, 0, 0xE0]
        let data: [UInt8] = [0, 0, 0, 1, 0x41] + payload
        let packed = PackedHeader(data: data, bitLength: 40 + 8 * payload.count - 5, hasEmulationBytes: emulated)
        let header = try #require(packed.sliceHeader)
        #expect(header.prefix == [0, 0, 0, 1, 0x41])
        #expect(header.payload == [0xAA, 0, 0, 0xE0])
        #expect(header.bitCount == 27)
    }

    @Test func otherUnitsAreNoSliceHeaders() {
        for data: [UInt8] in [[], [0, 0, 1], [0, 0, 1, 0x67, 5], [0, 0, 1, 0x41], [0x67, 1]] {
            let packed = PackedHeader(data: data, bitLength: 8 * data.count, hasEmulationBytes: true)
            #expect(packed.sliceHeader == nil, "\(data)")
        }
    }

    /// A client's own slice header, of any bit length, with and without emulation prevention bytes, precedes the slice
    /// data.
    @Test(arguments: [false, true]) func packedSliceHeadersGiveTheSameStream(_ emulated: Bool) {
        let syntax = RandomSyntax(seed: 3)
        for cabac in [false, true] {
            let sequence = syntax.sequence
            let picture = syntax.picture(cabac: cabac)
            let writer = SliceEntropyWriter(widthInMacroblocks: syntax.options.widthInMacroblocks)
            var stream = sequence.nalUnit() + picture.nalUnit()
            for slice in syntax.pictures.joined() {
                let own = slice.header.bits(sequence: sequence, picture: picture)
                var data = own.prefix + own.payload
                var length = 8 * own.prefix.count + own.bitCount
                if emulated {
                    data = EmulationPrevention.escape(own.payload, after: own.prefix)
                    length += 8 * (data.count - own.prefix.count - own.payload.count)
                }
                let packed = PackedHeader(data: data, bitLength: length, hasEmulationBytes: emulated)
                var entropy = slice.entropy
                entropy.cabac = cabac
                writer.begin(entropy, header: packed.sliceHeader!)
                for (index, macroblock) in slice.macroblocks.enumerated() {
                    writer.write(macroblock, address: entropy.firstMacroblock + index)
                }
                stream += writer.finish()
            }
            #expect(stream == syntax.stream(cabac: cabac))
        }
    }
}
