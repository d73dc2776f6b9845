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
        // That driver reads pictures in the program's memory, so that only coded buffers are mapped.
        for call in 8..<14 { #expect(try rebuilds("iHD25nonfree-46A6", call) == 0) }
        // Here surfaces are mapped too, in an order that depends on the threads.
        #expect(try (20..<50).contains { try rebuilds(nil, $0) > 0 })
    }
}
