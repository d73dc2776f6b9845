import TestOracles
import Testing

/// The records of driver trials that succeeded. While a record is valid, vaenc tries the driver in no other process.
@Suite struct TrialRecordTests {
    /// Encodes ten pictures on a render node, and returns the number of pictures that all processes encoded.
    private func encode(_ folder: String, _ environment: [String: String?] = [:]) throws -> Int {
        try Files.write([], to: folder + "/counts")
        var variables: [String: String?] = [
            "XDG_CACHE_HOME": folder + "/cache", "VAENC_REFERENCE_COUNTS": folder + "/counts", "VAENC_DRIVER_TRIALS": nil,
        ]
        variables.merge(environment) { $1 }
        let result = try RenderNode.runOnDriver(
            Checkout.vaenc,
            [
                "encode", "testsrc:96x64@25:10", "--device", "/dev/dri/renderD128", "--codec", "h264", "--qp", "30", "--overwrite",
                "-o", folder + "/a.h264",
            ], environment: variables)
        try #require(result.status == 0, "\(result.errors)")
        let lines = String(decoding: try Files.read(folder + "/counts"), as: UTF8.self).split(separator: "\n")
        return lines.compactMap { JSONValue(String($0))?["encoded"]?.int }.reduce(0, +)
    }

    private func records(_ folder: String) throws -> [String] {
        let list = try ProcessRunner.run("find", [folder + "/cache", "-type", "f"])
        return list.output.split(separator: "\n").map(String.init)
    }

    @Test func trialIsRepeatedOnlyAfterAChange() throws {
        try Files.withTemporaryFolder { folder in
            #expect(try encode(folder) > 10)
            let record = try #require(try records(folder).first)
            #expect(try encode(folder) == 10 && records(folder) == [record])
            // Another environment of drivers, and a request to ignore the records.
            #expect(try encode(folder, ["MESA_DEBUG": "1"]) > 10)
            #expect(try encode(folder, ["VAENC_DRIVER_TRIALS": "always"]) > 10)
            // A file that has changed since, and records that are not valid.
            let text = String(decoding: try Files.read(record), as: UTF8.self)
            let line = try #require(text.split(separator: "\n").last { $0.contains("drv_video.so") })
            for changed in [text.replacing(line, with: "1" + line), String(text.prefix(text.count / 2)), "", "\0\n\n\n \n"] {
                try Files.write(Array(changed.utf8), to: record)
                #expect(try encode(folder) > 10)
                #expect(try encode(folder) == 10)
            }
        }
    }

    /// Without a folder for records, each process tries the driver.
    @Test(arguments: ["/proc/none", "relative", "/dev/null"])
    func foldersThatCannotBeWritten(_ cache: String) throws {
        try Files.withTemporaryFolder { folder in
            let variables: [String: String?] = ["XDG_CACHE_HOME": cache, "HOME": "/proc/none"]
            for _ in 0..<2 {
                let encoded = try encode(folder, variables)
                #expect(encoded > 10)
            }
        }
    }
}
