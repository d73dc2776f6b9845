import TestOracles
import Testing

/// Driver behavior that differs from its documentation, simulated by the reference driver.
@Suite struct QuirkTests {
    /// On iHD, mapping the coded buffer can fail after a wait for it, and succeeds after a wait for the surface. On
    /// other drivers that fail there, the session is rebuilt.
    @Test func earlyMapFailureCausesNoRebuildOnIHD() throws {
        func rebuilds(_ personality: String?, _ call: Int) throws -> Int {
            try Files.withTemporaryFolder { folder in
                let result = try ProcessRunner.run(
                    Checkout.vaenc,
                    ["encode", "testsrc:160x96@30:20", "--device", "reference", "--qp", "24", "--json"] + ["-o", folder + "/a.h264"],
                    environment: ["VAENC_FAULT": "vaMapBuffer@\(call)=status:24", "VAENC_REFERENCE_PERSONALITY": personality])
                #expect(result.status == 0, "\(result.errors)")
                let decoded = ForeignDecoder.libavcodec.decode(try Files.read(folder + "/a.h264"))
                #expect(decoded.messages == [] && decoded.frames.count == 20)
                let report = try #require(JSONValue(result.output))
                return try #require(report["statistics"]?["rebuilds"]?.int)
            }
        }
        // Surfaces are mapped too, in an order that depends on the threads. About half of these calls map coded buffers.
        let calls = 28..<44
        for call in calls { #expect(try rebuilds("iHD25nonfree-46A6", call) == 0) }
        #expect(try calls.contains { try rebuilds(nil, $0) > 0 })
    }
}
