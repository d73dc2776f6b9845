import BitstreamInspection
import TestOracles
import Testing

/// Damaged HEVC streams are reported and never crash the reader.
@Suite struct HEVCDamageTests {
    @Test(arguments: HEVCSample.structures + HEVCSample.rates) func damagedStreamsAreReadAndReported(_ sample: HEVCSample) throws {
        let bytes = try sample.start()
        let headers = HEVCStream(annexB: bytes).nalUnits.flatMap { unit in
            Array(unit.payload.prefix(unit.type >= 32 ? 64 : 12))
        }
        var different = 0
        let sound = HEVCStream(annexB: bytes).violations.count
        Damage.sweep(bytes, headers: headers, rounds: 180) { damaged in
            let read = HEVCStream(annexB: damaged)
            let report = read.hrd()
            if read.violations.count != sound || report?.conforms == false { different += 1 }
            #expect(read.frames.map(\.displayIndex).sorted() == Array(read.frames.indices))
        }
        // A third of the changes are in slice data, which is not read.
        #expect(different > 54)
    }

    /// Mixes and changes parameter sets and slices of several streams, which may contradict each other. Some of the
    /// streams have tiles, which no available encoder makes.
    @Test func mixedStreamsNeverCrashTheReader() throws {
        var all = try (HEVCSample.structures + HEVCSample.rates).map { try $0.stream() }
        for (width, height, columns, rows) in [(1024, 512, 4, 2), (1920, 1080, 5, 3), (512, 256, 2, 2), (256, 256, 1, 4)] {
            var crafted = CraftedHEVC()
            (crafted.width, crafted.height, crafted.hasDependentSlices) = (width, height, true)
            crafted.tiles = (columns, rows, [], [])
            crafted.pictures = [.idr { $0.entryPoints = [10, 10] }, .p(1, [0]), .p(2, [1, 0]) { $0.addresses = [0, 3] }]
            all.append(crafted.stream())
            let (across, down) = ((width + 63) / 64, (height + 63) / 64)
            crafted.tiles = (
                columns, rows, [Int](repeating: max(1, across / columns), count: columns - 1),
                [Int](repeating: max(1, down / rows), count: rows - 1)
            )
            all.append(crafted.stream())
        }
        let streams = all.map { bytes in HEVCStream(annexB: bytes).nalUnits.map { Array(bytes[$0.payload]) } }
        var pictures = 0
        Damage.mixtures(streams, rounds: 2000) { mixed in
            let read = HEVCStream(annexB: mixed)
            _ = read.hrd()
            pictures += read.frames.count
            #expect(read.frames.map(\.displayIndex).sorted() == Array(read.frames.indices))
        }
        #expect(pictures > 2000)
    }

    @Test func shortStreamsAreViolationsWithoutFrames() {
        let cases: [[UInt8]] = [
            [], [0], [0, 0, 1], [0, 0, 1, 0x40], [0, 0, 0, 1, 0x26, 0x01], [1, 2, 3], [0, 0, 1, 0xff, 1, 0, 0, 1],
            [0, 0, 1, 0x26, 0x00, 0x80],
        ]
        for bytes in cases {
            let stream = HEVCStream(annexB: bytes)
            #expect(stream.frames.isEmpty)
            #expect(!stream.violations.isEmpty)
        }
    }

    /// If a reference picture is removed, every picture that refers to it is reported.
    @Test(arguments: HEVCSample.structures[..<8]) func missingReferencesAreReported(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        var checked = 0
        for frame in stream.frames where !frame.isIRAP {
            let users = stream.frames.filter { $0.referenceSet.current.contains(frame.index) }
            guard let first = users.first else { continue }
            checked += 1
            let read = HEVCStream(annexB: stream.removing([frame.index], from: bytes))
            // After the removed picture, frame indices are one less.
            #expect(read.violations(of: .referenceList).first?.frame == first.index - 1, "without \(frame.index)")
            #expect(read.violations(of: .referenceList).count >= users.count)
        }
        #expect(checked > 6)
        let headless = HEVCStream(annexB: stream.removing([0], from: bytes))
        #expect(!headless.violations.isEmpty)
        let range = stream.byteRange(stream.frames[4])
        let doubled = HEVCStream(annexB: Array(bytes[..<range.upperBound]) + bytes[range.lowerBound...])
        #expect(doubled.violations(of: .pictureOrder).contains { $0.message.contains("twice") })
    }

    /// Changes the NAL unit type of each picture into each other type. Only legal types pass.
    @Test(arguments: ["open GOP", "RADL", "flat B", "sub-layers"]) func illegalUnitTypesAreReported(_ name: String) throws {
        let sample = try #require(HEVCSample.structures.first { $0.name == name })
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        var passed: Set<String> = []
        for frame in stream.frames.prefix(30) {
            for type in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20, 21] where type != frame.nal_unit_type {
                // Between these types, the layout of the header differs.
                guard (type >= 16) == frame.isIRAP, (type == 19 || type == 20) == frame.isIDR else { continue }
                var changed = bytes
                for slice in frame.slices {
                    changed[stream.nalUnits[slice.nalUnit].payload.lowerBound] = UInt8(type << 1)
                }
                if HEVCStream(annexB: changed).violations.isEmpty {
                    passed.insert("\(HEVCNALUnit.name(of: frame.nal_unit_type)) as \(HEVCNALUnit.name(of: type))")
                }
            }
        }
        // These changes stay legal: reference or non-reference if no picture of the sub-layer refers to the picture;
        // TSA and STSA if no reference prevents them; RASL instead of RADL; BLA instead of CRA.
        let kinds: [Set<String>] = [
            ["TRAIL_N", "TRAIL_R", "TSA_N", "TSA_R", "STSA_N", "STSA_R"], ["RADL_N", "RADL_R", "RASL_N", "RASL_R"],
            ["IDR_W_RADL", "IDR_N_LP"], ["CRA", "BLA_W_LP"], ["CRA", "BLA_W_RADL", "BLA_N_LP", "BLA_W_LP"],
        ]
        for each in passed {
            let ends = each.split(separator: " as ", maxSplits: 1).map(String.init)
            #expect(kinds.contains { $0.isSuperset(of: ends) }, "\(each)")
        }
        if name != "sub-layers" { #expect(!passed.contains("TRAIL_R as TRAIL_N")) }
        if name == "RADL" { #expect(!passed.contains { $0.hasPrefix("IDR_W_RADL as") }) }
        if name == "open GOP" {
            #expect(!passed.contains { $0.contains("as BLA_W_RADL") || $0.contains("as BLA_N_LP") })
        }
        if name != "sub-layers" { #expect(!passed.contains { $0.contains("TSA") }) }
    }

    @Test func missingAndShortenedSlicesAreReported() throws {
        let sample = try #require(HEVCSample.structures.first { $0.name == "slices and wavefronts" })
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        let first = stream.nalUnits[stream.frames[3].slices[0].nalUnit]
        var without = bytes
        without.removeSubrange(first.offset..<(first.offset + first.byteCount))
        #expect(!HEVCStream(annexB: without).violations.isEmpty)
        // A shortened slice holds fewer bytes than its entry points require.
        let large = stream.nalUnits[stream.frames[0].slices[0].nalUnit]
        var cut = bytes
        cut.removeSubrange((large.payload.upperBound - large.payload.count * 2 / 3)..<large.payload.upperBound)
        #expect(HEVCStream(annexB: cut).violations.contains { $0.message.contains("entry points") })
    }

    @Test func missingParameterSetsAreReported() throws {
        let sample = try #require(HEVCSample.structures.first { $0.name == "I and P" })
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        for type in [32, 33, 34] {
            let unit = try #require(stream.nalUnits.first { $0.type == type })
            var without = bytes
            without.removeSubrange(unit.offset..<(unit.offset + unit.byteCount))
            #expect(!HEVCStream(annexB: without).violations.isEmpty, "\(unit.name)")
        }
    }
}
