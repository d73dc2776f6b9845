import TestOracles
import Testing

/// The number of allocations does not grow unnoticed: small pictures cost little besides them.
@Suite struct AllocationCountTests {
    /// After the start, the program itself allocates memory only a few times for a picture: what its caller keeps (the
    /// packet), what its threads pass on, and the lists of the plan and the headers. The driver's own allocations do not
    /// count.
    @Test(arguments: [("h264", 0, 27), ("h264", 2, 42), ("hevc", 0, 49), ("hevc", 2, 67)])
    func pictureCostsFewAllocations(_ codec: String, _ bFrames: Int, _ limit: Int) throws {
        func count(_ frames: Int) throws -> Int {
            try Files.withTemporaryFolder { folder in
                try Files.write([UInt8](repeating: 128, count: 320 * 180 * 3 / 2 * frames), to: folder + "/in.yuv")
                return try CountedAllocations.count(
                    Checkout.vaenc,
                    [
                        "encode", folder + "/in.yuv", "--input-size", "320x180", "--input-format", "nv12", "--device", "reference", "--codec",
                        codec, "--qp", "26", "--gop", "120", "--bframes", "\(bFrames)", "-o", folder + "/o.\(codec)",
                    ], environment: ["VAENC_REFERENCE_MODE": "null"])
            }
        }
        let perPicture = Double(try count(240) - (try count(120))) / 120
        #expect(perPicture > 1 && perPicture <= Double(limit), "\(perPicture) allocations for a picture")
    }
}
