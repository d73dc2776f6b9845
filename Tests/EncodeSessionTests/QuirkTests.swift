import TestOracles
import Testing

/// Driver behavior that differs from its documentation, simulated by the reference driver.
@Suite struct QuirkTests {
    /// On iHD, mapping the coded buffer can fail after a wait for it, and succeeds after a wait for the surface. On
    /// other drivers that fail there, the session is rebuilt.
    @Test func earlyMapFailureCausesNoRebuildOnIHD() throws {
        func rebuilds(_ personality: String?) throws -> Int {
            try (28..<34).reduce(0) { sum, call in
                try Files.withTemporaryFolder { folder in
                    let result = try ProcessRunner.run(
                        Checkout.vaenc,
                        ["encode", "testsrc:160x96@30:20", "--device", "reference", "--qp", "24", "--json"]
                            + ["-o", folder + "/a.h264"],
                        environment: [
                            "VAENC_FAULT": "vaMapBuffer@\(call)=status:24", "VAENC_REFERENCE_PERSONALITY": personality,
                        ])
                    #expect(result.status == 0, "\(result.errors)")
                    let decoded = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/a.h264"))
                    #expect(decoded.messages == [] && decoded.frames.count == 20)
                    let report = try #require(JSONValue(result.output))
                    return sum + (try #require(report["statistics"]?["rebuilds"]?.int))
                }
            }
        }
        #expect(try rebuilds("iHD25nonfree-46A6") == 0)
        #expect(try rebuilds(nil) > 0)
    }
}
