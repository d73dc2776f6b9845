import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Tests the options of single pictures by what decoders see of them.
@Suite struct EncodeOptionTests {
    private static let carphone = Result { try Fixture.carphone.frames() }

    /// The results of encoding carphone on the driver.
    private struct Encoded {
        var pictures: [[UInt8]] = []
        var statuses: [UInt32] = []
        var shown: [PlanarFrame] = []
        var bytes: [UInt8] { pictures.flatMap { $0 } }
    }

    private func encode(
        _ count: Int, frames: [PlanarFrame]? = nil, misc: [[UInt8]], everyPicture: Bool = false, cabac: Bool = true,
        slices: Int = 1, qp: Int = 30, rateControl: Int32 = VA_RC_CQP
    ) throws -> Encoded {
        let frames = try frames ?? Self.carphone.get()
        let stream = StreamClient(
            width: frames[0].width, height: frames[0].height, rateControl: rateControl, codedBytes: 1 << 18)
        stream.frames = frames
        var encoded = Encoded()
        for index in 0..<count {
            stream.paint()
            var buffers = stream.buffers(slices: slices, cabac: cabac)
            buffers.picture!.pic_init_qp = UInt8(qp)
            if index == 0 || everyPicture { buffers.misc = misc }
            #expect(stream.send(buffers) == VA_STATUS_SUCCESS)
            let coded = try #require(stream.client.coded(stream.coded))
            encoded.pictures.append(coded.bytes)
            encoded.statuses.append(coded.status)
            encoded.shown.append(try #require(stream.shown(index)))
            stream.advance()
        }
        for decoder in ForeignDecoder.all(for: .h264) {
            let video = decoder.decode(encoded.bytes)
            #expect(video.messages == [], "\(decoder)")
            #expect(video.frames == encoded.shown, "\(decoder)")
        }
        return encoded
    }

    // MARK: Regions of interest

    /// Returns a VAEncMiscParameterBufferROI. The regions are never freed, because the driver reads them when the
    /// picture is rendered.
    private func regions(_ list: [(x: Int16, y: Int16, width: UInt16, height: UInt16, value: Int8)], isDelta: Bool)
        -> [UInt8]
    {
        let memory = UnsafeMutablePointer<VAEncROI>.allocate(capacity: list.count)
        for (index, region) in list.enumerated() {
            var roi = VAEncROI()
            roi.roi_rectangle = VARectangle(x: region.x, y: region.y, width: region.width, height: region.height)
            roi.roi_value = region.value
            memory[index] = roi
        }
        var buffer = VAEncMiscParameterBufferROI()
        buffer.num_roi = UInt32(list.count)
        buffer.max_delta_qp = 20
        buffer.min_delta_qp = -20
        buffer.roi = memory
        buffer.roi_flags.bits.roi_value_is_qp_delta = isDelta ? 1 : 0
        var bytes: [UInt8] = []
        withUnsafeBytes(of: VAEncMiscParameterTypeROI.rawValue) { bytes += $0 }
        withUnsafeBytes(of: buffer) { bytes += $0 }
        return bytes
    }

    /// Returns the mean squared error of luma inside and outside a rectangle.
    private func errors(_ encoded: Encoded, _ x: Int, _ y: Int, _ width: Int, _ height: Int) throws -> (
        inside: Double, outside: Double
    ) {
        let sources = try Self.carphone.get()
        var (inside, outside, count) = (0, 0, 0)
        for (a, b) in zip(sources, encoded.shown) {
            for row in 0..<a.height {
                for column in 0..<a.width {
                    let offset = row * a.width + column
                    let difference = Int(a.bytes[offset]) - Int(b.bytes[offset])
                    if column >= x && column < x + width && row >= y && row < y + height {
                        inside += difference * difference
                    } else {
                        outside += difference * difference
                    }
                }
            }
            count += 1
        }
        let area = width * height
        return (Double(inside) / Double(area * count), Double(outside) / Double((176 * 144 - area) * count))
    }

    @Test(arguments: [VA_RC_CQP, VA_RC_VBR])
    func regionsOfInterestChangeTheirQuality(mode: Int32) throws {
        let rate = [RateWords(bitrate: 200_000).buffer, misc(VAEncMiscParameterTypeFrameRate, [30])]
        let plain = try encode(6, misc: rate, everyPicture: true, qp: 36, rateControl: mode)
        let before = try errors(plain, 48, 32, 64, 64)
        func change(_ list: [[UInt8]]) throws -> (inside: Double, outside: Double) {
            let after = try errors(
                try encode(6, misc: rate + list, everyPicture: true, qp: 36, rateControl: mode), 48, 32, 64, 64)
            return (before.inside / after.inside, before.outside / after.outside)
        }
        let finer = try change([regions([(48, 32, 64, 64, -12)], isDelta: true)])
        #expect(finer.inside > 2.5, "\(finer)")
        #expect(finer.outside < 1.1, "\(finer)")
        let coarser = try change([regions([(48, 32, 64, 64, 8)], isDelta: true)])
        #expect(coarser.inside < 0.7, "\(coarser)")
        // If two regions overlap, the first one applies.
        let first = try change([regions([(48, 32, 64, 64, -12), (0, 0, 176, 144, 10)], isDelta: true)])
        #expect(first.inside > 2 && first.outside < 0.95, "\(first)")
        if mode == VA_RC_VBR {
            let important = try change([regions([(48, 32, 64, 64, 5)], isDelta: false)])
            #expect(important.inside > 1.8, "\(important)")
        }
    }

    /// At constant QPs the status holds the average QP of the macroblocks: 20 of 99 are finer by 10.
    @Test func statusHoldsTheAverageQPWithRegions() throws {
        let encoded = try encode(1, misc: [regions([(0, 0, 80, 64, -10)], isDelta: true)], qp: 36)
        #expect(encoded.statuses[0] & 0xff == 34)
    }

    // MARK: Trellis

    private func trellis(_ flags: UInt32) -> [UInt8] { misc(VAEncMiscParameterTypeQuantization, [flags]) }

    /// Trellis quantization saves bits at almost the same quality in the pictures for which it is requested.
    @Test func trellisSavesBitsOnRequest() throws {
        func quality(_ encoded: Encoded) throws -> Double {
            let sources = try Self.carphone.get()
            return zip(sources, encoded.shown).reduce(0) { $0 + PSNR.luma($1.0, $1.1) } / Double(encoded.shown.count)
        }
        let off = try encode(30, misc: [trellis(1)], qp: 22)
        let on = try encode(30, misc: [trellis(0b1110)], qp: 22)
        #expect(Double(on.bytes.count) < 0.98 * Double(off.bytes.count), "\(on.bytes.count) of \(off.bytes.count)")
        #expect(try quality(on) > quality(off) - 0.2)
        for cabac in [true, false] {
            let off = try encode(2, misc: [trellis(1)], cabac: cabac)
            let ofI = try encode(2, misc: [trellis(0b0010)], cabac: cabac)
            #expect(ofI.pictures[0] != off.pictures[0])
            let ofP = try encode(2, misc: [trellis(0b0100)], cabac: cabac)
            #expect(ofP.pictures[0] == off.pictures[0] && ofP.pictures[1] != off.pictures[1])
        }
    }

    /// The request applies at every quality level.
    @Test func trellisRequestOverridesTheQualityLevel() throws {
        func level(_ level: UInt32) -> [UInt8] { misc(VAEncMiscParameterTypeQualityLevel, [level]) }
        for quality: UInt32 in [1, 7] {
            let own = try encode(4, misc: [level(quality)])
            let off = try encode(4, misc: [level(quality), trellis(1)])
            let on = try encode(4, misc: [level(quality), trellis(0b1110)])
            #expect(own.bytes == (quality == 1 ? on : off).bytes)
            #expect(on.bytes != off.bytes)
        }
    }

    // MARK: Macroblock rate control

    /// Returns pictures that are flat on the left and have noise on the right.
    private func halves(_ count: Int) -> [PlanarFrame] {
        var generator = SplitMix64(state: 7)
        return (0..<count).map { index in
            var bytes: [UInt8] = []
            for y in 0..<96 {
                for x in 0..<128 {
                    let flat = 100 + (x + y + index) / 12 + Int.random(in: 0...3, using: &generator)
                    bytes.append(UInt8(x < 64 ? flat : Int.random(in: 60...190, using: &generator)))
                }
            }
            bytes += [UInt8](repeating: 128, count: 128 * 96 / 2)
            return PlanarFrame(width: 128, height: 96, bytes: bytes)!
        }
    }

    @Test func macroblockRateControlMovesBitsToFlatAreas() throws {
        let frames = halves(40)
        let mode = VA_RC_VBR | VA_RC_MB
        func run(_ mode: Int32, flag: UInt32) throws -> (rate: Double, flatError: Int) {
            let rate = RateWords(bitrate: 1_500_000, flags: flag << 3).buffer
            let encoded = try encode(
                40, frames: frames, misc: [rate, misc(VAEncMiscParameterTypeFrameRate, [30])], rateControl: mode)
            var error = 0
            for (a, b) in zip(frames, encoded.shown) {
                for y in 0..<96 {
                    for x in 0..<64 {
                        let difference = Int(a.bytes[128 * y + x]) - Int(b.bytes[128 * y + x])
                        error += difference * difference
                    }
                }
            }
            return (Double(encoded.bytes.count * 8) * 30 / 40, error)
        }
        let off = try run(VA_RC_VBR, flag: 0)
        let on = try run(mode, flag: 0)
        #expect(Double(on.flatError) < 0.8 * Double(off.flatError), "\(on) against \(off)")
        #expect(abs(on.rate / off.rate - 1) < 0.1, "\(on) against \(off)")
        #expect(try run(mode, flag: 2).flatError == off.flatError)
        #expect(try run(VA_RC_VBR, flag: 1).flatError == on.flatError)
    }

    // MARK: Slices of limited size

    private func isSlice(_ unit: ArraySlice<UInt8>) -> Bool {
        let header = unit.drop { $0 == 0 }.dropFirst().first ?? 0
        return header & 31 == 1 || header & 31 == 5
    }

    @Test(arguments: [300, 700, 1500], [false, true])
    func slicesKeepTheirSizeLimit(limit: Int, cabac: Bool) throws {
        let encoded = try encode(
            5, misc: [misc(VAEncMiscParameterTypeMaxSliceSize, [UInt32(8 * limit)])], cabac: cabac,
            slices: limit == 700 ? 2 : 1, qp: 24)
        for (index, picture) in encoded.pictures.enumerated() {
            let slices = nalUnits(picture).filter(isSlice)
            #expect(slices.allSatisfy { $0.count <= limit }, "\(slices.map(\.count)) of \(limit)")
            // Slices end when they are nearly full, not long before.
            let bytes = slices.reduce(0) { $0 + $1.count }
            #expect(slices.count <= bytes * 4 / (limit * 3) + 2, "\(slices.map(\.count)) of \(limit)")
            #expect(index > 0 || slices.count > 2)
            #expect(encoded.statuses[index] & UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK) == 0)
        }
    }

    /// If a macroblock exceeds the limit, it has its own slice, and the status reports it.
    @Test func macroblocksLargerThanASliceAreReported() throws {
        let part = try Self.carphone.get()[0].cropped(x: 48, y: 32, width: 64, height: 48)
        let encoded = try encode(
            1, frames: [part], misc: [misc(VAEncMiscParameterTypeMaxSliceSize, [8 * 40])], qp: 10)
        let slices = nalUnits(encoded.bytes).filter(isSlice)
        #expect(slices.count > 6 && slices.contains { $0.count > 40 })
        #expect(encoded.statuses[0] & UInt32(VA_CODED_BUF_STATUS_SLICE_OVERFLOW_MASK) != 0)
    }
}
