import BitstreamInspection
import TestOracles
import Testing

/// Broken HEVC streams are reported, and never bring the reader down.
@Suite struct HEVCDamageTests {
    /// Thousands of changed bytes, removed and doubled pieces.
    @Test(arguments: HEVCSample.structures + HEVCSample.rates) func anyBytesAreRead(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let headers = HEVCStream(annexB: bytes).nalUnits.flatMap { unit in
            Array(unit.payload.prefix(unit.type >= 32 ? 64 : 12))
        }
        var different = 0
        let sound = HEVCStream(annexB: bytes).violations.count
        Damage.sweep(bytes, headers: headers, rounds: 300) { damaged in
            let read = HEVCStream(annexB: damaged)
            let report = read.hrd()
            if read.violations.count != sound || report?.conforms == false { different += 1 }
            #expect(read.frames.map(\.displayIndex).sorted() == Array(read.frames.indices))
        }
        // A third of the changes fall into slice data, which is not read.
        #expect(different > 90)
    }

    /// Parameter sets and slices of several streams, mixed and changed: what fits by itself need not fit together. Among them
    /// are streams with tiles, which no encoder at hand makes.
    @Test func mixedStreamsAreRead() throws {
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
        Damage.mixtures(streams, rounds: 3000) { mixed in
            let read = HEVCStream(annexB: mixed)
            _ = read.hrd()
            pictures += read.frames.count
            #expect(read.frames.map(\.displayIndex).sorted() == Array(read.frames.indices))
        }
        #expect(pictures > 3000)
    }

    @Test func shortAndEmptyStreams() {
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

    /// Without a picture that others refer to, those others say which one they miss.
    @Test(arguments: HEVCSample.structures[..<8]) func missingReferencesAreNamed(_ sample: HEVCSample) throws {
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        var checked = 0
        for frame in stream.frames where !frame.isIRAP {
            let users = stream.frames.filter { $0.referenceSet.current.contains(frame.index) }
            guard let first = users.first else { continue }
            checked += 1
            let read = HEVCStream(annexB: stream.removing([frame.index], from: bytes))
            // Behind the gap indices are one less.
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

    /// Each NAL unit type of a slice changed into each other one: only what stays legal is let pass.
    @Test(arguments: ["open GOP", "RADL", "flat B", "sub-layers"]) func otherUnitTypesAreFound(_ name: String) throws {
        let sample = try #require(HEVCSample.structures.first { $0.name == name })
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        var passed: Set<String> = []
        for frame in stream.frames.prefix(30) {
            for type in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20, 21] where type != frame.nalUnitType {
                // The layout of a header differs between these.
                guard (type >= 16) == frame.isIRAP, (type == 19 || type == 20) == frame.isIDR else { continue }
                var changed = bytes
                for slice in frame.slices {
                    changed[stream.nalUnits[slice.nalUnit].payload.lowerBound] = UInt8(type << 1)
                }
                if HEVCStream(annexB: changed).violations.isEmpty {
                    passed.insert("\(HEVCNALUnit.name(of: frame.nalUnitType)) as \(HEVCNALUnit.name(of: type))")
                }
            }
        }
        // Reference or not is free where nothing of the sub-layer refers to it, TSA and STSA where nothing prevents it;
        // RASL pictures may be called so where they could be RADL ones; a BLA picture may stand in a CRA picture's place.
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

    @Test func missingSlicesAreNamed() throws {
        let sample = try #require(HEVCSample.structures.first { $0.name == "slices and wavefronts" })
        let bytes = try sample.stream()
        let stream = HEVCStream(annexB: bytes)
        let first = stream.nalUnits[stream.frames[3].slices[0].nalUnit]
        var without = bytes
        without.removeSubrange(first.offset..<(first.offset + first.byteCount))
        #expect(!HEVCStream(annexB: without).violations.isEmpty)
        // A slice cut short holds less than its entry points say.
        let large = stream.nalUnits[stream.frames[0].slices[0].nalUnit]
        var cut = bytes
        cut.removeSubrange((large.payload.upperBound - large.payload.count * 2 / 3)..<large.payload.upperBound)
        #expect(HEVCStream(annexB: cut).violations.contains { $0.message.contains("entry points") })
    }

    @Test func missingParameterSetsAreNamed() throws {
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
