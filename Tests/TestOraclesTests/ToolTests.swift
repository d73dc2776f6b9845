import TestOracles
import Testing

@Suite struct PairwiseCoverTests {
    @Test(arguments: [[2, 3], [3, 3, 3, 3], [28, 28, 2, 4, 3, 36, 7, 3], [5, 1, 4]])
    func everyPairOccurs(_ counts: [Int]) {
        let rows = PairwiseCover.rows(counts: counts)
        let found = Set(rows.flatMap { pairs(of: $0) })
        var expected = 0
        for p in counts.indices { for q in counts.indices where p < q { expected += counts[p] * counts[q] } }
        #expect(found.count == expected)
        #expect(rows.allSatisfy { zip($0, counts).allSatisfy { $0 >= 0 && $0 < $1 } })
        // There are at most half more rows than the two widest parameters need alone.
        let widest = counts.sorted().suffix(2).reduce(1, *)
        #expect(rows.count * 2 <= max(widest, 12) * 3, "\(rows.count) rows for \(counts)")
    }

    @Test func forbiddenPairsDoNotOccur() {
        let rows = PairwiseCover.rows(counts: [3, 2, 4, 5]) { p, a, q, b in !(p == 0 && a == 0 && q == 1 && b == 1) }
        #expect(!rows.contains { $0[0] == 0 && $0[1] == 1 })
        let found = Set(rows.flatMap { pairs(of: $0) })
        // There are 3·2 + 3·4 + 3·5 + 2·4 + 2·5 + 4·5 pairs, minus one.
        #expect(found.count == 70)
    }

    private func pairs(of row: [Int]) -> [[Int]] {
        row.indices.flatMap { p in row.indices.compactMap { q in p < q ? [p, row[p], q, row[q]] : nil } }
    }
}

@Suite struct BDRateTests {
    // Two curves are often printed with Bjøntegaard's formula, and two are uneven. The expected values are those of
    // SciPy 1.17's PchipInterpolator.
    private let a = points([(686.76, 40.28), (309.58, 37.18), (157.11, 34.24), (85.95, 31.42)])
    private let b = points([(893.34, 40.39), (407.8, 37.21), (204.93, 34.17), (112.75, 31.24)])
    private let c = points([(4212, 44.1), (2100, 41.7), (1200, 38.2), (700, 36.9), (330, 33.0)])
    private let d = points([(3900, 43.0), (2500, 42.1), (1100, 39.9), (650, 35.2), (400, 34.9)])

    @Test func bdRateMatchesSciPy() throws {
        #expect(abs(try #require(BDRate.percent(of: b, against: a)) - 31.379878202397627) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: a, against: b)) + 23.884843426369507) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: d, against: c)) + 2.940978369374747) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: c, against: d)) - 3.030092741473478) < 1e-9)
    }

    @Test func doubledRateIsOneHundredPercent() throws {
        let doubled = a.map { BDRate.Point(rate: $0.rate * 2, psnr: $0.psnr) }
        #expect(abs(try #require(BDRate.percent(of: doubled, against: a)) - 100) < 1e-9)
        #expect(abs(try #require(BDRate.percent(of: a, against: a))) < 1e-9)
    }

    @Test func incomparableCurvesHaveNoBDRate() {
        #expect(BDRate.percent(of: a, against: a.map { BDRate.Point(rate: $0.rate, psnr: $0.psnr + 20) }) == nil)
        #expect(BDRate.percent(of: a, against: [a[0]]) == nil)
        #expect(BDRate.percent(of: a, against: [a[0], BDRate.Point(rate: a[0].rate * 2, psnr: a[0].psnr - 1)]) == nil)
    }

    private static func points(_ values: [(Double, Double)]) -> [BDRate.Point] {
        values.map { BDRate.Point(rate: $0.0, psnr: $0.1) }
    }
}

@Suite struct PSNRTests {
    @Test func psnrMatchesHandDerivedValues() throws {
        let black = try #require(PlanarFrame(width: 2, height: 2, bytes: [0, 0, 0, 0, 128, 128]))
        let white = try #require(PlanarFrame(width: 2, height: 2, bytes: [255, 255, 255, 255, 128, 128]))
        let grey = try #require(PlanarFrame(width: 2, height: 2, bytes: [1, 0, 1, 0, 128, 128]))
        #expect(PSNR.luma(black, white) == 0)
        #expect(PSNR.luma(black, black) == .infinity)
        // The mean squared error is 1/2: 10·log10(65025·2) dB.
        #expect(abs(PSNR.luma(black, grey) - 51.14110359) < 1e-6)
        #expect(abs(PSNR.all(black, grey) - 52.90201618) < 1e-6)
        #expect(black.nv12 == [0, 0, 0, 0, 128, 128])
    }

    @Test func croppingAndSplittingSelectTheRightSamples() throws {
        let bytes = (0..<24).map { UInt8($0) }
        let frame = try #require(PlanarFrame(width: 4, height: 4, bytes: bytes))
        #expect(frame.cropped(x: 2, y: 2, width: 2, height: 2).bytes == [10, 11, 14, 15, 19, 23])
        #expect(PlanarFrame.split(bytes + [0], width: 4, height: 4) == nil)
        #expect(PlanarFrame.split(bytes + bytes, width: 4, height: 4)?.count == 2)
        #expect(frame.nv12.suffix(8) == [16, 20, 17, 21, 18, 22, 19, 23])
    }
}

@Suite struct ProcessRunnerTests {
    @Test func programRunsWithInputOutputAndStatus() throws {
        let result = try ProcessRunner.run(
            "sh", ["-c", "cat; echo $A >&2; exit 7"], environment: ["A": "b c"], input: [104, 105])
        #expect(result.output == "hi" && result.errors == "b c\n" && result.status == 7 && !result.timedOut)
        let large = try ProcessRunner.run("sh", ["-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"])
        #expect(large.stdout.count == 3_000_000 && large.stderr.count == 3_000_000)
        #expect(try ProcessRunner.run("pwd", [], directory: "/usr").output == "/usr\n")
    }

    @Test func timeoutsSignalsAndMissingProgramsAreReported() throws {
        let slow = try ProcessRunner.run("sleep", ["20"], timeout: 0.2)
        #expect(slow.timedOut && slow.status == 128 + 9)
        #expect(try ProcessRunner.run("sh", ["-c", "kill -SEGV $$"]).status == 128 + 11)
        #expect(throws: ProcessRunner.Failure.self) { try ProcessRunner.run("no-such-program", []) }
    }
}

@Suite struct ReaderTests {
    @Test func reconstructionIsSortedIntoOutputOrder() throws {
        let frames = (0..<5).compactMap {
            PlanarFrame(width: 2, height: 2, bytes: [UInt8](repeating: UInt8($0), count: 6))
        }
        let text = "0 IDR 0 26 100\n1 P 4 28 20\n2 B 2 30 5\n3 IDR 0 26 90\n4 P 2 28 10\n"
        let reconstruction = try Reconstruction(frames: frames, text: text)
        #expect(reconstruction.framesInOutputOrder.map { $0.bytes[0] } == [0, 2, 1, 3, 4])
        #expect(reconstruction.pictures.map(\.qp) == [26, 28, 30, 26, 28])
        #expect(reconstruction.pictures[1].bytes == 20)
        #expect(throws: Reconstruction.Malformed.self) { try Reconstruction(frames: frames, text: "0 IDR 0 26 100\n") }
        #expect(throws: Reconstruction.Malformed.self) { try Reconstruction(frames: [frames[0]], text: "0 IDR x\n") }
    }

    @Test func traceHeadersAreReadFromX264() throws {
        let source = try Fixture.carphone.frames(5, width: 96, height: 80)
        let stream = try ForeignEncoder.x264(source, options: "qp=31:keyint=3:bframes=0:cabac=0:slices=2:ref=2")
        try Files.withTemporaryFolder { folder in
            try Files.write(stream, to: folder + "/a.h264")
            let headers = try TraceHeaders(path: folder + "/a.h264")
            let sps = try #require(headers.units(named: "Sequence Parameter Set").first)
            #expect(sps["pic_width_in_mbs_minus1"] == 5 && sps["pic_height_in_map_units_minus1"] == 4)
            #expect(headers["entropy_coding_mode_flag"].allSatisfy { $0 == 0 })
            let slices = headers.units(named: "Slice Header")
            #expect(slices.count == 10)
            #expect(slices.map { $0["nal_unit_type"] } == [5, 5, 1, 1, 1, 1, 5, 5, 1, 1])
            #expect(slices.map { $0["frame_num"] } == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1])
        }
    }
}
