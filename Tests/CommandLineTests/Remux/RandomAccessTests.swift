import TestOracles
import Testing

/// Random access points: the report, the container's key flags and a decoder agree.
@Suite struct RandomAccessTests {
    private static let picture = 64 * 48 * 3 / 2
    private static let count = 36

    /// Encodes files of 36 different pictures that start with an IDR picture, followed by I pictures. Returns the report
    /// for each file.
    private static func encode(_ names: [String], _ options: [String], in folder: String) throws -> [JSONValue] {
        let run = try EncodeRun(
            ["testsrc:64x48@25:\(count)", "--device", "reference", "--json", "--qp", "30", "--gop", "12"] + names.flatMap { ["-o", $0] }
                + options, in: folder)
        #expect(run.status == 0, "\(run.errors)")
        let reports = names.count == 1 ? [try #require(run.report)] : run.outputs
        try #require(reports.count == names.count)
        return reports
    }

    /// Returns the presentation times of the packets with the key flag, in seconds.
    private static func marked(_ name: String, in folder: String) throws -> [Double] {
        let result = try ProcessRunner.run(
            "ffprobe", ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", name],
            directory: folder)
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: ",") }
        #expect(lines.count == count)
        return lines.compactMap { $0.count >= 2 && $0[1].hasPrefix("K") ? Double($0[0]) : nil }
    }

    private static func pictures(_ name: String, after options: [String] = [], in folder: String) throws -> [UInt8] {
        let result = try ProcessRunner.run(
            "ffmpeg",
            ["-nostdin", "-v", "error"] + options + ["-i", name, "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
            directory: folder)
        #expect(result.status == 0)
        return result.stdout
    }

    /// Returns the contents of all boxes with the given name.
    private static func boxes(_ name: String, in bytes: [UInt8]) -> [[UInt8]] {
        let pattern = Array(name.utf8)
        return bytes.indices.dropFirst(4).compactMap { at in
            guard bytes[at...].starts(with: pattern) else { return nil }
            let size = bytes[(at - 4)..<at].reduce(0) { $0 << 8 | Int($1) }
            return size >= 8 && at - 4 + size <= bytes.count ? Array(bytes[(at + 4)..<(at - 4 + size)]) : nil
        }
    }

    private static func open(_ isOpen: Bool) -> [String] {
        ["--bframes", "2", "--idr-interval", "3"] + (isOpen ? ["--open-gop"] : [])
    }

    /// After seeking to the second key flag, a decoder shows that picture and the following ones, and none that refers
    /// to missing pictures.
    @Test(arguments: ["h264", "hevc"], [true, false])
    func keyFlagsAreRandomAccessPoints(_ codec: String, _ isOpen: Bool) throws {
        try Files.withTemporaryFolder { folder in
            let containers = ["mp4", "mov", "mkv", "ts"]
            let reports = try Self.encode(containers.map { "a.\($0)" }, ["--codec", codec] + Self.open(isOpen), in: folder)
            for (container, report) in zip(containers, reports) {
                let name = "a.\(container)"
                #expect(report["frames"]?["key"]?.int == 3)
                let marked = try Self.marked(name, in: folder)
                #expect(marked.count == 3, "\(name): \(marked)")
                // TS has no index, so seeking is approximate.
                guard container != "ts", marked.count == 3 else { continue }
                let first = Int((marked[1] * 25).rounded())
                let whole = try Self.pictures(name, in: folder)
                #expect(whole.count == Self.count * Self.picture)
                let rest = try Self.pictures(
                    name, after: ["-noaccurate_seek", "-ss", "\(marked[1] + 0.2)"], in: folder)
                let isSame = rest.elementsEqual(whole[(first * Self.picture)...])
                #expect(isSame, "\(name): \(rest.count / Self.picture) pictures from \(first) on")
            }
        }
    }

    /// Sync samples are those of ISO/IEC 14496-15, 8.4.3: IDR pictures, and CRA pictures without RASL pictures.
    @Test(arguments: ["h264", "hevc"]) func syncSamplesFollowTheStandard(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            for isOpen in [true, false] {
                let isSync = codec == "hevc" && !isOpen
                _ = try Self.encode(["a.mp4", "a.mov"], ["--codec", codec, "--overwrite"] + Self.open(isOpen), in: folder)
                for container in ["mp4", "mov"] {
                    let file = try Files.read("\(folder)/a.\(container)")
                    let sync = try #require(Self.boxes("stss", in: file).first)
                    #expect(sync[7] == (isSync ? 3 : 1) && Array(sync[8..<12]) == [0, 0, 0, 1])
                    let partial = Self.boxes("stps", in: file).map { $0[7] }
                    #expect(partial == (container == "mov" && !isSync ? [2] : []))
                    let groups = Self.boxes("sbgp", in: file).map { Array($0[4..<8]) }
                    #expect(groups == (container == "mp4" && !isSync ? [Array("rap ".utf8)] : []))
                }
            }
        }
    }

    /// MPEG-TS has random_access_indicator; an unseekable MP4 has one fragment for each access point.
    @Test(arguments: ["h264", "hevc"]) func unindexedStreamsSignalAccessPoints(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let options = ["--codec", codec] + Self.open(true)
            _ = try Self.encode(["a.ts"], options, in: folder)
            let stream = try Files.read("\(folder)/a.ts")
            let begins = stride(from: 0, to: stream.count, by: 188).count { at in
                // adaptation_field_control, the field's length, and its second flag; the PID of the video.
                stream[at + 1] & 31 == 1 && stream[at + 2] == 0 && stream[at + 3] & 32 != 0 && stream[at + 4] > 0
                    && stream[at + 5] & 64 != 0
            }
            #expect(begins == 3)
            let piped = try ProcessRunner.run(
                Checkout.vaenc,
                ["encode", "testsrc:64x48@25:\(Self.count)", "-o", "-", "--format", "mp4", "--device", "reference", "--qp", "30"]
                    + ["--gop", "12"] + options)
            #expect(piped.status == 0 && Self.boxes("moof", in: piped.stdout).count == 3)
            try Files.write(piped.stdout, to: "\(folder)/piped.mp4")
            #expect(try Self.marked("piped.mp4", in: folder).count == 3)
        }
    }

    /// With long-term references, pictures after an I picture may refer to earlier ones, so it is no access point.
    @Test(arguments: ["h264", "hevc"]) func longTermReferencesPreventAccessPoints(_ codec: String) throws {
        try Files.withTemporaryFolder { folder in
            let reports = try Self.encode(["a.mp4", "a.mkv"], ["--codec", codec, "--ltr", "2", "--refs", "3"] + Self.open(false), in: folder)
            for (container, report) in zip(["mp4", "mkv"], reports) {
                #expect(report["frames"]?["key"]?.int == 1 && report["frames"]?["encoded"]?.int == Self.count)
                // In H.264, ffprobe itself flags pictures with a recovery point, even if the container does not.
                if codec == "hevc" { #expect(try Self.marked("a.\(container)", in: folder) == [0]) }
            }
            let file = try Files.read("\(folder)/a.mp4")
            #expect(Self.boxes("stss", in: file).map { Array($0[4...]) } == [[0, 0, 0, 1, 0, 0, 0, 1]])
            #expect(Self.boxes("sbgp", in: file).isEmpty)
        }
    }
}
