import ReferenceDriver
import TestOracles
import Testing

/// Tests the driver's readers and writers of HEVC headers with foreign streams.
@Suite struct HeaderHEVCTests {
    /// Returns the NAL units without start codes.
    private func units(_ stream: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        for index in 0..<max(stream.count - 2, 0)
        where stream[index] == 0 && stream[index + 1] == 0 && stream[index + 2] == 1 { starts.append(index) }
        return zip(starts, starts.dropFirst() + [stream.count]).map { start, end in
            var unit = Array(stream[(start + 3)..<end])
            while unit.last == 0 { unit.removeLast() }
            return unit
        }
    }

    private func rbsp(_ unit: [UInt8]) -> [UInt8] { EmulationPrevention.unescape(unit.dropFirst(2)) }

    @Test(arguments: [
        "qp=30:bframes=0:ref=3:weightp=0", "qp=28:bframes=3:b-pyramid=1:ref=4:weightp=0:weightb=0:no-sao=1",
        "qp=28:bframes=2:ref=2:weightp=0:open-gop=0:keyint=5:cbqpoffs=2:crqpoffs=-3",
        "qp=33:bframes=3:ctu=16:min-cu-size=16:no-strong-intra-smoothing=1:deblock=2,-1:weightp=0:temporal-layers=1",
        "crf=28:vbv-maxrate=500:vbv-bufsize=500:hrd=1:aud=1:weightp=0:multi-pass-opt-rps=1:constrained-intra=1",
    ])
    func foreignHeadersAreRewrittenUnchanged(options: String) throws {
        let frames = try Fixture.carphone.frames(9).map { $0.cropped(x: 0, y: 0, width: 170, height: 138) }
        let stream = try ForeignEncoder.x265(frames, options: options + ":log-level=none:info=0:wpp=0:frame-threads=1")
        var sequence: HEVCSequenceParameterSet?
        var picture: HEVCPictureParameterSet?
        var slices = 0
        for unit in units(stream) {
            switch unit[0] >> 1 {
            case 33:
                sequence = HEVCSequenceParameterSet(rbsp: rbsp(unit))
                #expect(sequence?.nalUnit() == [0, 0, 0, 1] + unit)
            case 34:
                picture = HEVCPictureParameterSet(rbsp: rbsp(unit))
                #expect(picture?.nalUnit() == [0, 0, 0, 1] + unit)
            case 0...21:
                let payload = rbsp(unit)
                var end = 0
                let bits = SliceHeaderBits(prefix: Array(unit[..<2]), payload: payload, bitCount: 8 * payload.count)
                let (set, parameters) = (try #require(sequence), try #require(picture))
                let header = try #require(HEVCSliceHeader(bits, sequence: set, picture: parameters, end: &end))
                let written = header.bits(sequence: set, picture: parameters)
                #expect(written.bitCount == end)
                let whole = end / 8
                #expect(written.payload[..<whole] == payload[..<whole])
                // byte_alignment() follows: a one, then zeros.
                var rest = HeaderBitReader(payload, bitCount: 8 * payload.count)
                for _ in 0..<end { _ = rest.flag() }
                #expect(rest.get((8 - end & 7 + 7) & 7 + 1) == 1 << UInt32((8 - end & 7 + 7) & 7))
                slices += 1
            default: break
            }
        }
        #expect(slices >= 9)
    }

    @Test func referenceSetIsPredictedFromAnother() {
        // H.265 7.4.8 with the set {−1 used, −2, +3 used}, shifted by −2: the set's own picture is at −2.
        var bits = HeaderBitWriter()
        bits.put(true)  // inter_ref_pic_set_prediction_flag
        bits.put(true)  // delta_rps_sign
        bits.putUnsigned(1)  // abs_delta_rps_minus1
        for flags in [[true], [false, true], [true], [false, false]] { for flag in flags { bits.put(flag) } }
        let other = HEVCReferenceSet([.init(delta: -1, isUsed: true), .init(delta: -2, isUsed: false), .init(delta: 3, isUsed: true)])
        var reader = HeaderBitReader(bits.bytes, bitCount: bits.bitCount)
        let set = HEVCReferenceSet(&reader, after: [other], inSliceHeader: false)
        #expect(
            set
                == HEVCReferenceSet([
                    .init(delta: -3, isUsed: true), .init(delta: -4, isUsed: false), .init(delta: 1, isUsed: true),
                ]))
        #expect(reader.position == bits.bitCount)
    }

    @Test func referenceListsFollowTheSet() {
        var sequence = HEVCSequenceParameterSet()
        sequence.longTerm = []
        var header = HEVCSliceHeader()
        header.nal_unit_type = 1
        header.type = .b
        header.referenceSet = HEVCReferenceSet([
            .init(delta: -4, isUsed: true), .init(delta: -1, isUsed: false), .init(delta: 2, isUsed: true),
        ])
        header.longTerm = [.init(pictureOrderCountLsb: 7, cycle: 1), .init(pictureOrderCountLsb: 3)]
        header.referenceCounts = [5, 2]
        func orders(_ list: Int) -> [Int]? {
            header.lists(pictureOrderCount: 300, sequence: sequence)?[list].map(\.pictureOrderCount)
        }
        // 300 has the low bits 44 of 256; with a cycle of 1, the base is 0, and the picture is 7.
        #expect(orders(0) == [296, 302, 7, 3, 296] && orders(1) == [302, 296])
        header.listEntries = [nil, [2, 0]]
        #expect(orders(1) == [7, 302])
        header.listEntries = [nil, [2, 4]]
        #expect(orders(1) == nil)
    }

    @Test func shortenedHeadersAreNotRead() throws {
        var sequence = HEVCSequenceParameterSet()
        (sequence.pic_width_in_luma_samples, sequence.pic_height_in_luma_samples) = (200, 136)
        sequence.referenceSets = [HEVCReferenceSet([.init(delta: -1, isUsed: true)])]
        var picture = HEVCPictureParameterSet()
        picture.tiles = .init(columns: 2, rows: 1)
        let unit = sequence.nalUnit()
        let whole = EmulationPrevention.unescape(unit.dropFirst(6))
        #expect(HEVCSequenceParameterSet(rbsp: whole)?.nalUnit() == unit)
        for count in 0..<whole.count - 1 {
            #expect(HEVCSequenceParameterSet(rbsp: Array(whole[..<count]))?.nalUnit() != unit)
        }
        let other = picture.nalUnit()
        #expect(HEVCPictureParameterSet(rbsp: EmulationPrevention.unescape(other.dropFirst(6)))?.nalUnit() == other)
        var header = HEVCSliceHeader()
        header.nal_unit_type = 1
        header.type = .p
        header.short_term_ref_pic_set_idx = 0
        header.referenceSet = sequence.referenceSets[0]
        header.referenceCounts = [1, 0]
        let bits = header.bits(sequence: sequence, picture: picture)
        var end = 0
        #expect(HEVCSliceHeader(bits, sequence: sequence, picture: picture, end: &end) == header && end == bits.bitCount)
        for count in 0..<bits.bitCount {
            var cut = bits
            cut.bitCount = count
            #expect(HEVCSliceHeader(cut, sequence: sequence, picture: picture, end: &end) == nil)
        }
    }
}
