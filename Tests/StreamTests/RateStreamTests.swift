import BitstreamInspection
import TestOracles
import Testing

/// Tests rate control from end to end: every mode, with the driver's controller and with vaenc's own. The streams are
/// decoded, compared with the reconstruction, and checked by the hypothetical reference decoder of Annex C.
@Suite struct RateStreamTests {
    fileprivate static let frames = 240
    private static let framesPerSecond = 30.0

    /// The clip carphone, twice.
    private static let clip: Result<String, any Error> = Result {
        let path = "\(Fixture.folder)/carphone-176x144-twice.yuv"
        let once = try Files.read(try Fixture.carphone.rawPath())
        if Files.size(path) != once.count * 2 { try Files.write(once + once, to: path) }
        return path
    }

    private func encode(_ options: String, frames: Int = Self.frames, personality: String? = nil) throws -> EncodedStream {
        try EncodedStream(
            raw: try Self.clip.get(), width: 176, height: 144,
            options: "--fps 30 --codec h264 --preset 7 --json --frames \(frames) \(options)".split(separator: " ").map(String.init),
            personality: personality
        ).withoutRepeats
    }

    private func rate(_ stream: H264Stream) -> Double {
        Double(stream.frames.reduce(0) { $0 + $1.byteCount }) * 8 * Self.framesPerSecond / Double(stream.frames.count)
    }

    struct Mode: Sendable, CustomTestStringConvertible {
        var options: String
        /// The resulting rate in bits/s and its relative tolerance, or nil if the mode aims at no rate.
        var rate: (bits: Double, error: Double)?
        var hasHRD = true
        var frames = RateStreamTests.frames
        var testDescription: String { options }

        static let all: [Mode] = {
            var all: [Mode] = []
            let structures = [" --bframes 0 --gop 60", " --bframes 2 --gop 60", " --bframes 3 --b-pyramid --refs 2 --gop 61"]
            let controllers = [" --rate-controller driver", " --rate-controller vaenc"]
            for (index, structure) in structures.enumerated() {
                // Every pair of mode, controller and structure occurs.
                func more(_ mode: Int) -> String { controllers[(index + mode) % 2] + structure }
                all.append(
                    Mode(options: "--rate-control cbr --bitrate 200k --vbv-size 100k" + more(0), rate: (200_000, 0.03)))
                all.append(
                    Mode(options: "--rate-control vbr --bitrate 150k --max-bitrate 225k" + more(1), rate: (150_000, 0.06)))
                // The rate does not suffice for the quality.
                all.append(
                    Mode(options: "--rate-control qvbr --quality 10 --bitrate 150k --max-bitrate 225k" + more(0)))
                all.append(
                    Mode(options: "--rate-control avbr --bitrate 150k" + structure, rate: (150_000, 0.06), hasHRD: false))
                // Without a rate, a shorter clip suffices.
                all.append(Mode(options: "--rate-control icq --quality 30" + structure, hasHRD: false, frames: 80))
                all.append(Mode(options: "--rate-control cqp --qp 30" + structure, hasHRD: false, frames: 80))
            }
            // The GOPs are open; only the first begins with an IDR picture.
            for (mode, error) in [("cbr --bitrate 200k", 0.03), ("vbr --bitrate 200k --max-bitrate 240k", 0.06)] {
                all.append(
                    Mode(
                        options: "--rate-control \(mode) --rate-controller vaenc --bframes 3 --gop 12 --open-gop",
                        rate: (200_000, error)))
            }
            // The buffer is small, and the driver does not see the parameter sets of I pictures.
            all.append(
                Mode(
                    options: "--rate-control cbr --bitrate 100k --vbv-size 30k --vbv-initial 50 --bframes 3 --b-pyramid "
                        + "--refs 2 --gop 60 --open-gop --aud", rate: (100_000, 0.05)))
            return all
        }()
    }

    @Test(arguments: Mode.all) func everyModeKeepsItsRateAndBuffer(_ mode: Mode) throws {
        let encoded = try encode(mode.options, frames: mode.frames)
        // openh264 2.3 shows an IDR picture twice instead of the P picture before it if B pictures came between them.
        let order = mode.options.contains("bframes 3") ? "openh264: picture" : "none"
        #expect(encoded.faults(frameCount: mode.frames).filter { !$0.hasPrefix(order) } == [])
        #expect(encoded.violations() == [])
        let stream = encoded.inspected
        #expect((stream.hrd() != nil) == mode.hasHRD)
        if let (bits, error) = mode.rate {
            let measured = rate(stream)
            #expect(abs(measured / bits - 1) <= error, "\(measured) bit/s")
        }
        if let maximum = maximum(mode.options) {
            let fullest = fullestSecond(stream)
            #expect(fullest <= maximum, "\(fullest) bits in a second")
        }
    }

    private func maximum(_ options: String) -> Int? { options.contains("--max-bitrate 225k") ? 225_000 : nil }

    private func fullestSecond(_ stream: H264Stream) -> Int {
        let bits = stream.frames.map { $0.byteCount * 8 }
        return (0...max(bits.count - 30, 0)).map { bits[$0..<min($0 + 30, bits.count)].reduce(0, +) }.max() ?? 0
    }

    /// Drivers without packed headers do not see the headers that are inserted after the encode; rate and buffer
    /// include them.
    @Test(arguments: [
        ("cbr --bitrate 150k --vbv-size 75k", 150_000.0), ("vbr --bitrate 150k --max-bitrate 200k", 150_000),
        ("cbr --bitrate 100k --vbv-size 30k", 100_000),
    ])
    func rateIncludesInsertedHeaders(_ mode: String, _ expected: Double) throws {
        let count = 250
        let encoded = try EncodedStream(
            raw: try Fixture.bikes.rawPath(width: 320, height: 136), width: 320, height: 136,
            options: "--fps 25 --codec h264 --preset 7 --aud --gop 50 --rate-control \(mode)".split(separator: " ")
                .map(String.init), personality: "radeonsi-raven"
        ).withoutRepeats
        #expect(encoded.faults(frameCount: count) == [])
        #expect(encoded.violations() == [])
        let stream = encoded.inspected
        #expect(stream.nalUnits.count { $0.type == 9 } == count)
        let rate = Double(stream.frames.reduce(0) { $0 + $1.byteCount }) * 8 * 25 / Double(count)
        #expect(abs(rate / expected - 1) < 0.06, "\(rate)")
    }

    /// If the highest QP does not suffice for the rate, each picture that the buffer has no room for is counted.
    @Test(arguments: ["driver", "vaenc"]) func picturesThatOverflowTheRateAreCounted(_ controller: String) throws {
        for (options, isPossible) in [("--bitrate 60k --gop 1", false), ("--bitrate 60k --gop 60", true)] {
            let encoded = try encode("--rate-control cbr \(options) --rate-controller \(controller)")
            let stream = encoded.inspected
            let violations = try #require(stream.hrd()).violations
            let broken = violations.filter { $0.message.contains("underflow") }.compactMap(\.frame)
            #expect(broken.isEmpty == isPossible && violations.isEmpty == isPossible)
            #expect(encoded.report?["statistics"]?["limitsBroken"]?.int == broken.count)
            // A higher QP is not available for these pictures.
            #expect(broken.allSatisfy { stream.frames[$0].qp == 51 })
        }
    }

    /// The driver repeatedly gets a new rate for what is added to its pictures: headers, prefix units, start codes.
    @Test(arguments: [
        ("", "radeonsi-navi21"), ("--max-slice-bytes 300", "iHD-9A49"), ("--temporal-layers 2", nil),
        ("--temporal-layers 3", nil), ("--temporal-layers 2 --bframes 1", nil),
    ])
    func maximumRateHoldsWithAddedUnits(_ options: String, _ personality: String?) throws {
        let encoded = try EncodedStream(
            raw: try Fixture.bikes.rawPath(width: 320, height: 136), width: 320, height: 136,
            options: ("--fps 25 --codec h264 --preset 7 --rate-control vbr --bitrate 200k --max-bitrate 220k "
                + "--vbv-size 440k --json " + options).split(separator: " ").map(String.init),
            personality: personality
        ).withoutRepeats
        #expect(encoded.faults(frameCount: 250) == [])
        #expect(encoded.violations() == [])
        #expect(encoded.report?["statistics"]?["driverRates"]?.array.count ?? 0 > 2, "the driver got no new rate")
        let bits = encoded.inspected.frames.map { $0.byteCount * 8 }
        let average = bits.reduce(0, +) / 10
        // Windows of one second near the average: a share of each is reserved for pictures that become larger than
        // planned, and none exceeds the maximum.
        #expect((185_000...202_000).contains(average), "\(average) bit/s")
        let fullest = (0...225).map { bits[$0..<$0 + 25].reduce(0, +) }.max() ?? 0
        #expect(fullest <= 220_000, "\(fullest) bits in a second")
    }

    @Test(arguments: ["driver", "vaenc"]) func qpLimitsHold(_ controller: String) throws {
        for (bitrate, end) in [("30k", 32), ("8M", 27)] {
            let encoded = try encode(
                "--rate-control vbr --bitrate \(bitrate) --rate-controller \(controller) --min-qp 27 --max-qp 32 "
                    + "--bframes 2 --slices 2 --gop 60")
            #expect(encoded.faults(frameCount: Self.frames) == [])
            let qps = encoded.inspected.frames.flatMap { $0.slices.map(\.header.qp) }
            #expect(qps.count == Self.frames * 2)
            #expect(qps.allSatisfy { (27...32).contains($0) })
            #expect(qps.count { $0 == end } > Self.frames)
        }
    }

    @Test(arguments: ["driver", "vaenc"]) func pictureSizeLimitHolds(_ controller: String) throws {
        let encoded = try encode(
            "--rate-control vbr --bitrate 600k --rate-controller \(controller) --max-frame-bytes 3000 --gop 60")
        #expect(encoded.faults(frameCount: Self.frames) == [])
        #expect(encoded.violations() == [])
        let sizes = encoded.inspected.frames.map(\.byteCount)
        #expect(sizes.allSatisfy { $0 <= 3000 }, "\(sizes.max() ?? 0) bytes")
        #expect(sizes.contains { $0 > 2000 })
    }

    @Test func sliceSizeLimitHolds() throws {
        let encoded = try encode(
            "--rate-control cbr --bitrate 300k --max-slice-bytes 400 --bframes 0 --gop 60", personality: "iHD-9A49")
        #expect(encoded.faults(frameCount: Self.frames) == [])
        #expect(encoded.violations() == [])
        let stream = encoded.inspected
        let sizes = stream.nalUnits.filter(\.isSlice).map(\.byteCount)
        #expect(sizes.allSatisfy { $0 <= 400 }, "\(sizes.max() ?? 0) bytes")
        #expect(sizes.contains { $0 > 300 })
        #expect(Set(stream.frames.map(\.slices.count)).count > 2)
    }

    /// A still picture cannot use the rate: CBR adds filler, VBR does not.
    @Test(arguments: ["driver", "vaenc"]) func onlyConstantRateAddsFiller(_ controller: String) throws {
        let still = [PlanarFrame](repeating: try Fixture.carphone.frames(1)[0], count: 90)
        for mode in ["cbr", "vbr"] {
            let encoded = try EncodedStream(
                still,
                options: [
                    "--fps", "30", "--codec", "h264", "--preset", "7", "--gop", "30", "--min-qp", "20", "--rate-control",
                    mode, "--bitrate", "900k", "--vbv-size", "450k", "--rate-controller", controller,
                ]
            ).withoutRepeats
            #expect(encoded.faults(frameCount: 90) == [])
            #expect(encoded.violations() == [])
            let stream = encoded.inspected
            let filler = stream.nalUnits.filter { $0.type == 12 }
            let rate = rate(stream)
            if mode == "cbr" {
                #expect(filler.count > 60)
                // Three seconds may deviate by the half second that the buffer holds.
                #expect(abs(rate / 900_000 - 1) < 0.1, "\(rate) bit/s")
            } else {
                #expect(filler.isEmpty)
                #expect(rate < 450_000, "\(rate) bit/s")
            }
        }
    }

    /// vaenc's controller runs modes that the driver lacks, and this is reported.
    @Test func vaencsControllerReplacesMissingModes() throws {
        func effective(_ encoded: EncodedStream, _ option: String) -> JSONValue? {
            encoded.report?["effective"]?.array.first { $0["option"]?.string == option }
        }
        func bikes(_ options: String, personality: String?) throws -> EncodedStream {
            try EncodedStream(
                raw: try Fixture.bikes.rawPath(width: 320, height: 136, frames: 12), width: 320, height: 136,
                options: "--codec h264 --preset 7 --json \(options)".split(separator: " ").map(String.init),
                personality: personality)
        }
        // The old Intel driver offers CQP, CBR and VBR; Mesa 22 does too, but with one QP for all pictures.
        let qvbr = "--rate-control qvbr --bitrate 200k --quality 28"
        let own = try bikes(qvbr + " --strict", personality: "i965-5916")
        #expect(effective(own, "rateController")?["used"]?.string == "vaenc")
        #expect(effective(own, "rateController")?["why"]?.string?.contains("QVBR") == true)
        #expect(effective(own, "rateControl")?["used"]?.string == "qvbr")
        #expect(own.violations() == [])
        let drivers = try bikes(qvbr + " --strict", personality: nil)
        #expect(effective(drivers, "rateController")?["used"]?.string == "driver")
        let refused = #expect(throws: EncodedStream.Failure.self) {
            _ = try bikes(qvbr + " --rate-controller driver --strict", personality: "i965-5916")
        }
        let fixed = try bikes(qvbr, personality: "radeonsi-raven")
        #expect(effective(fixed, "rateControl")?["used"]?.string == "vbr")
        #expect(effective(fixed, "rateControl")?["why"]?.string?.contains("one QP") == true)
        #expect(effective(fixed, "rateController")?["used"]?.string == "driver")
        #expect(refused?.status == 69)
        let average = "--rate-control avbr --bitrate 200k"
        let nearest = try bikes(average, personality: "radeonsi-raven")
        #expect(effective(nearest, "rateControl")?["used"]?.string == "vbr")
        #expect(effective(nearest, "rateControl")?["asked"]?.string == "avbr")
        let strict = #expect(throws: EncodedStream.Failure.self) {
            _ = try bikes(average + " --strict", personality: "radeonsi-raven")
        }
        #expect(strict?.status == 69)
    }

    /// After temporary failures of the device, the output is one stream with one buffer.
    @Test(arguments: [
        "cbr --rate-controller driver", "cbr --rate-controller vaenc", "vbr --rate-controller vaenc --bframes 2",
    ])
    func bufferModelHoldsAcrossFaults(_ mode: String) throws {
        try Files.withTemporaryFolder { folder in
            let output = folder + "/out.h264"
            let result = try ProcessRunner.run(
                Checkout.vaenc,
                ["encode", try Self.clip.get(), "--input-size", "176x144", "--input-format", "i420", "--device", "reference"]
                    + "--fps 30 --codec h264 --preset 7 --gop 60 --bitrate 200k --rate-control \(mode) --json -o \(output)"
                    .split(separator: " ").map(String.init),
                environment: ["VAENC_FAULT": "vaEndPicture@47=status:1; vaSyncBuffer@90=status:1; vaMapBuffer@200=status:1"])
            try #require(result.status == 0, "\(result.errors)")
            let stream = Streams.inspect(try Files.read(output))
            #expect(stream.frames.count == Self.frames)
            #expect(stream.frames.count(where: \.isIDR) > 4, "the faults had no effect")
            #expect(stream.violations.map(\.description) == [])
            let report = try #require(stream.hrd())
            #expect(report.violations.map(\.description) == [])
            #expect(abs(rate(stream) / 200_000 - 1) < 0.08, "\(rate(stream))")
        }
    }

    /// At constant rates that the content nearly takes, filler units of the least size occur, and the written delays
    /// are correct to one tick.
    @Test(arguments: ["driver", "vaenc"], [StreamCodec.h264, .hevc])
    func delaysHoldWithLeastFiller(_ controller: String, _ codec: StreamCodec) throws {
        try Files.withTemporaryFolder { folder in
            let output = "\(folder)/out.\(codec.fileExtension)"
            // Each rate occurs with each controller and with each codec.
            let first = (controller == "driver") == (codec == .h264) ? 162 : 164
            for kilobits in stride(from: first, through: 186, by: 4) {
                let options =
                    "--device reference --codec \(codec.rawValue) --rate-control cbr --bitrate \(kilobits)k --vbv-size "
                    + "\(kilobits / 2)k --rate-controller \(controller) --min-qp 22 --gop 8 --preset 7 --overwrite"
                let result = try ProcessRunner.run(
                    Checkout.vaenc,
                    ["encode", "testsrc:64x64@25:40", "-o", output] + options.split(separator: " ").map(String.init))
                try #require(result.status == 0, "\(result.errors)")
                let stream = Streams.inspect(try Files.read(output), codec: codec)
                let report = try #require(stream.hrd())
                #expect(report.violations.map(\.description) == [], "\(kilobits) kbit/s")
            }
        }
    }

    /// AVBR keeps no buffer, so its streams have no HRD parameters, and nothing is counted against a buffer.
    @Test(arguments: [StreamCodec.h264, .hevc]) func averageRateHasNoBuffer(_ codec: StreamCodec) throws {
        let encoded = try EncodedStream(
            raw: try Fixture.bikes.rawPath(width: 320, height: 136, frames: 100), width: 320, height: 136, codec: codec,
            options: "--fps 25 --codec \(codec.rawValue) --preset 7 --json --rate-control avbr --bitrate 200k".split(separator: " ")
                .map(String.init)
        ).withoutRepeats
        #expect(encoded.inspectedStream.hrd() == nil)
        let effective = encoded.report?["effective"]?.array.first { $0["option"]?.string == "hrdParameters" }
        #expect(effective?["used"]?.string == "off")
        #expect(encoded.report?["statistics"]?["limitsBroken"]?.int == 0)
    }
}
