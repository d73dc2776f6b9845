import CVA
import ReferenceDriver
import TestOracles
import Testing

/// Tests the rate controller with real pictures: by their sizes, by a decoder's buffer computed here, and by decoders.
@Suite struct BackendRateTests {
    private let frameRate = misc(VAEncMiscParameterTypeFrameRate, [30])

    private func buffer(_ bits: Int, _ fullness: Int) -> [UInt8] {
        misc(VAEncMiscParameterTypeHRD, [UInt32(fullness), UInt32(bits)])
    }

    private func decodes(_ client: RateClient) -> Bool {
        let video = ForeignDecoder.libavcodec.decode(client.bytes)
        return video.messages == [] && video.frames.count == client.pictures.count
    }

    @Test(arguments: [60_000, 200_000, 800_000])
    func constantBitRateIsKept(rate: Int) throws {
        let client = try RateClient(VA_RC_CBR)
        #expect(
            client.encode(
                450, [RateWords(bitrate: UInt32(rate)).buffer, frameRate, buffer(rate, rate * 3 / 4)]))
        #expect(abs(client.rate() / Double(rate) - 1) < 0.02, "\(client.rate())")
        let broken = client.violations(rate: rate, size: rate, fullness: rate * 3 / 4, isConstant: true)
        #expect(broken.dry == 0 && broken.over == 0)
        #expect(decodes(client))
    }

    @Test(arguments: [60_000, 200_000, 800_000])
    func variableBitRateIsKept(maximum: Int) throws {
        let client = try RateClient(VA_RC_VBR)
        #expect(
            client.encode(
                450,
                [RateWords(bitrate: UInt32(maximum), percentage: 60).buffer, frameRate, buffer(maximum, maximum)]))
        let target = 0.6 * Double(maximum)
        #expect(abs(client.rate() / target - 1) < 0.05, "\(client.rate()), not \(target)")
        let broken = client.violations(rate: maximum, size: maximum, fullness: maximum, isConstant: false)
        #expect(broken.dry == 0)
        #expect(!client.bytes.containsFiller)
        #expect(decodes(client))
    }

    /// With a window_size, no window of that length exceeds the maximum rate, although the buffer would allow it.
    @Test(arguments: [500, 1000]) func maximumRateHoldsInEveryWindow(milliseconds: Int) throws {
        let rate = 200_000
        func fullest(_ window: Int) throws -> Int {
            let client = try RateClient(VA_RC_VBR)
            #expect(
                client.encode(
                    200,
                    [
                        RateWords(bitrate: UInt32(rate), percentage: 95, window: UInt32(window)).buffer, frameRate,
                        buffer(4 * rate, 4 * rate),
                    ]))
            let count = milliseconds * RateClient.framesPerSecond / 1000
            return (0...200 - count).map { client.pictures[$0..<$0 + count].reduce(0) { $0 + $1.bits } }.max() ?? 0
        }
        #expect(try fullest(milliseconds) <= rate * milliseconds / 1000)
        #expect(try fullest(0) > rate * milliseconds / 1000)
    }

    /// Clients that add units to the stream continually correct the rate by small amounts.
    @Test func smallRateCorrectionsKeepTheRate() throws {
        let client = try RateClient(VA_RC_VBR)
        func rate(_ bits: UInt32) -> [UInt8] { RateWords(bitrate: bits, percentage: 95).buffer }
        #expect(client.encode(8, [rate(60_000), frameRate, buffer(240_000, 240_000)]))
        for number in 0..<36 { #expect(client.encode(8, [rate(number % 2 == 0 ? 59_600 : 60_000)])) }
        // With a target this near the maximum rate, a share of each second is reserved for pictures that become larger
        // than planned.
        #expect((52_500...57_500).contains(client.rate()), "\(client.rate())")
        let count = RateClient.framesPerSecond
        let fullest = (0...client.pictures.count - count).map { first in
            client.pictures[first..<first + count].reduce(0) { $0 + $1.bits }
        }
        #expect(fullest.max() ?? 0 <= 60_000, "\(fullest.max() ?? 0)")
    }

    @Test func averageBitRateIsKept() throws {
        let client = try RateClient(VA_RC_AVBR)
        #expect(client.encode(450, [RateWords(bitrate: 150_000, window: 60).buffer, frameRate]))
        #expect(abs(client.rate() / 150_000 - 1) < 0.05, "\(client.rate())")
    }

    /// The buffer holds three pictures, so hardly any picture may be larger than the others.
    @Test func smallBufferIsKept() throws {
        let client = try RateClient(VA_RC_CBR)
        let rate = 300_000
        #expect(client.encode(200, [RateWords(bitrate: 300_000).buffer, frameRate, buffer(rate / 10, rate / 10)]))
        let broken = client.violations(rate: rate, size: rate / 10, fullness: rate / 10, isConstant: true)
        #expect(broken.dry == 0 && broken.over == 0)
        #expect(abs(client.rate() / Double(rate) - 1) < 0.02)
    }

    @Test func fillerKeepsTheRateOfAStillPicture() throws {
        let client = try RateClient(VA_RC_CBR, still: true)
        let parameters = RateWords(bitrate: 2_000_000, minimumQP: 20)
        #expect(client.encode(90, [parameters.buffer, frameRate, buffer(1_000_000, 500_000)]))
        #expect(client.bytes.containsFiller)
        #expect(abs(client.rate() / 2_000_000 - 1) < 0.1, "\(client.rate())")
        #expect(client.violations(rate: 2_000_000, size: 1_000_000, fullness: 500_000, isConstant: true) == (0, 0))
        #expect(decodes(client))
        // The flag is disable_bit_stuffing.
        let bare = try RateClient(VA_RC_CBR, still: true)
        var flags = parameters
        flags.flags = 1 << 2
        #expect(bare.encode(30, [flags.buffer, frameRate, buffer(1_000_000, 500_000)]))
        #expect(!bare.bytes.containsFiller)
        #expect(bare.rate() < client.rate() / 2)
    }

    @Test func qpLimitsHold() throws {
        let client = try RateClient(VA_RC_VBR)
        let parameters = RateWords(bitrate: 100_000, initialQP: 33, minimumQP: 30, maximumQP: 34)
        #expect(client.encode(60, [parameters.buffer, frameRate]))
        #expect(client.pictures.allSatisfy { (30...34).contains($0.qp) })
        #expect(client.pictures.first?.qp == 33)
        // Only the limits change, with the next picture.
        #expect(client.encode(60, [RateWords(bitrate: 100_000, minimumQP: 40, maximumQP: 42).buffer]))
        #expect(client.pictures[60...].allSatisfy { (40...42).contains($0.qp) })
        #expect(decodes(client))
    }

    @Test(arguments: [VA_RC_CBR, VA_RC_VBR])
    func ratesChangeWithoutAnIDRPicture(mode: Int32) throws {
        let client = try RateClient(mode)
        let percentage: UInt32 = mode == VA_RC_CBR ? 100 : 80
        func rate(_ bits: UInt32) -> [UInt8] { RateWords(bitrate: bits, percentage: percentage).buffer }
        #expect(client.encode(120, [rate(100_000), frameRate]))
        #expect(client.encode(120, [rate(400_000)]))
        #expect(client.encode(120, [rate(100_000)]))
        let scale = Double(percentage) / 100
        // One second after a change, the rate is already the new one.
        for (range, expected) in [(60..<120, 100_000.0), (150..<240, 400_000), (270..<360, 100_000)] {
            #expect(abs(client.rate(range) / (expected * scale) - 1) < 0.2, "\(client.rate(range)) in \(range)")
        }
        #expect(decodes(client))
    }

    @Test func bitRateFollowsTheFrameRate() throws {
        let client = try RateClient(VA_RC_CBR)
        #expect(client.encode(150, [RateWords(bitrate: 200_000).buffer, misc(VAEncMiscParameterTypeFrameRate, [15])]))
        // Counted at 30 pictures/s, 15 pictures/s at 200 kbit/s look like 400 kbit/s.
        #expect(abs(client.rate(30..<150) / 400_000 - 1) < 0.1, "\(client.rate(30..<150))")
    }

    @Test func constantQualityKeepsItsQP() throws {
        var rates: [Double] = []
        for quality: UInt32 in [20, 28, 36] {
            let client = try RateClient(VA_RC_ICQ)
            #expect(client.encode(30, [RateWords(bitrate: 0, quality: quality).buffer]))
            #expect(client.pictures[1...].allSatisfy { $0.qp == Int(quality) })
            #expect(client.pictures[0].qp < Int(quality))
            rates.append(client.rate())
        }
        #expect(rates[0] > 1.5 * rates[1] && rates[1] > 1.5 * rates[2])
    }

    @Test func qualityIsKeptUnlessTheRateLimitsIt() throws {
        // If the rate suffices, the quality decides; otherwise the rate does.
        let rich = try RateClient(VA_RC_QVBR)
        #expect(rich.encode(90, [RateWords(bitrate: 4_000_000, quality: 30).buffer, frameRate]))
        #expect(rich.pictures[1...].allSatisfy { $0.qp == 30 } && rich.rate() < 2_000_000)
        let poor = try RateClient(VA_RC_QVBR)
        #expect(poor.encode(300, [RateWords(bitrate: 50_000, quality: 20).buffer, frameRate]))
        #expect(poor.rate() < 1.05 * 50_000)
    }

    @Test func pictureSizeLimitHolds() throws {
        let client = try RateClient(VA_RC_VBR)
        let limit = misc(VAEncMiscParameterTypeMaxFrameSize, [0, 24_000])
        #expect(client.encode(60, [RateWords(bitrate: 1_000_000).buffer, frameRate, limit]))
        #expect(client.pictures.allSatisfy { $0.bits <= 24_000 && $0.status & 0x1000 == 0 })
        #expect(client.pictures.contains { $0.bits > 16_000 })
    }

    @Test func temporalLayersKeepTheirRates() throws {
        let client = try RateClient(VA_RC_VBR)
        func layer(_ index: UInt32, _ rate: UInt32) -> [UInt8] {
            RateWords(bitrate: rate, flags: index << 7).buffer
        }
        #expect(
            client.encode(
                300,
                [
                    misc(VAEncMiscParameterTypeTemporalLayerStructure, [2, 2, 1, 0]), layer(0, 100_000),
                    layer(1, 300_000), frameRate,
                ]))
        let base = stride(from: 0, to: 300, by: 2).reduce(0) { $0 + client.pictures[$1].bits } / 10
        let top = stride(from: 1, to: 300, by: 2).reduce(0) { $0 + client.pictures[$1].bits } / 10
        #expect(abs(Double(base) / 100_000 - 1) < 0.1, "\(base)")
        #expect(abs(Double(top) / 200_000 - 1) < 0.1, "\(top)")
    }

    @Test func missingRateIsRefused() throws {
        for mode in [VA_RC_CBR, VA_RC_VBR, VA_RC_QVBR, VA_RC_AVBR] {
            let stream = StreamClient(rateControl: mode)
            #expect(stream.send(stream.buffers()) == VA_STATUS_ERROR_INVALID_PARAMETER)
        }
    }
}

extension [UInt8] {
    /// Whether the stream contains a NAL unit of type 12.
    fileprivate var containsFiller: Bool {
        (3..<Swift.max(count, 3)).contains { self[$0] == 12 && self[$0 - 1] == 1 && self[$0 - 2] == 0 && self[$0 - 3] == 0 }
    }
}
