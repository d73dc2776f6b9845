import TestOracles
import Testing

/// Wrong usage and missing support for HEVC and HDR. One line on stderr names the fault and the remedy, the exit status
/// is that of docs/CLI.md, and no file is left.
@Suite struct BadHEVCInputTests {
    private func refused(
        _ options: [String], input: String = "testsrc:256x144@25:2", personality: String? = nil, status: Int, _ words: String = "",
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try Files.withTemporaryFolder { folder in
            let result = try ProcessRunner.run(
                Checkout.vaenc, ["encode", input, "--device", "reference"] + options,
                environment: ["VAENC_REFERENCE_PERSONALITY": personality], directory: folder)
            #expect(result.status == status, "\(options): \(result.errors)", sourceLocation: sourceLocation)
            #expect(result.errors.contains(words), "\(options): \(result.errors)", sourceLocation: sourceLocation)
            #expect(result.errorLines.count == 1, "\(result.errors)", sourceLocation: sourceLocation)
            // The line has the program's name, the fault and the remedy. The argument parser refers to the help
            // instead.
            let hasRemedy = result.errors.split(separator: ": ").count >= 3 || result.errors.contains("--help lists")
            #expect(hasRemedy, "\(result.errors)", sourceLocation: sourceLocation)
            #expect(result.stdout.isEmpty && Files.list(folder).isEmpty, "\(options)", sourceLocation: sourceLocation)
        }
    }

    /// Profiles, bit depths, levels and coding tools contradict the codec or each other.
    @Test(arguments: [
        (["--codec", "hevc", "-o", "a.h264"], "--codec hevc contradicts"), (["--codec", "h264", "-o", "a.hevc"], "--codec h264 contradicts"),
        (["-o", "a.h265", "--profile", "high"], "--profile high"), (["-o", "a.h265", "--profile", "baseline"], "--profile baseline"),
        (["-o", "a.h265", "--profile", "main12"], "--profile main12"), (["-o", "a.h264", "--profile", "main10"], "--profile main10"),
        (["-o", "a.h265", "--profile", "main10", "--bit-depth", "8"], "bit depth"),
        (["-o", "a.h265", "--profile", "main", "--bit-depth", "10"], "bit depth"),
        (["-o", "a.mp4", "--profile", "high", "--bit-depth", "10"], "8 bits"), (["-o", "a.h264", "--bit-depth", "10"], "8 bits"),
        (["-o", "a.h265", "--bit-depth", "12"], "--bit-depth 12"), (["-o", "a.h265", "--bit-depth", "0"], "--bit-depth 0"),
        (["-o", "a.mp4", "--bit-depth", "-8"], "--bit-depth"), (["-o", "a.h265", "--bit-depth", "ten"], "--bit-depth"),
        (["-o", "a.h265", "--entropy", "cavlc"], "--entropy"), (["-o", "a.h265", "--entropy", "cabac"], "--entropy"),
        (["-o", "a.mp4", "--bit-depth", "10", "--entropy", "cavlc"], "--entropy"), (["-o", "a.h265", "--level", "4.2"], "level"),
        (["-o", "a.h265", "--level", "1b"], "level"), (["-o", "a.h265", "--level", "7.0"], "--level 7.0"),
        (["-o", "a.h265", "--tier", "higher"], "--tier"), (["-o", "a.h264", "--tier", "high"], "--tier"), (["-o", "a.h265", "--qp", "52"], "qp"),
        (["-o", "a.mp4", "--sample-entry", "avc1"], "sample-entry"),
        (["-o", "a.h265", "--codec", "vp9"], "codec"), (["-o", "a.h265", "--format", "mp4"], "--format mp4"),
        (["-o", "a.h264", "-o", "b.h265", "--profile", "main12"], "--profile main12"),
        (["-o", "a.h264", "-o", "b.h265", "--bit-depth", "9"], "--bit-depth 9"),
    ])
    func contradictingOptionsAreRefused(_ options: [String], _ words: String) throws { try refused(options, status: 64, words) }

    /// The values are malformed, with either codec.
    @Test(
        arguments: ["a.h265", "a.h264"],
        [
            ["--mastering-display", "G(1,2)"], ["--mastering-display", ""], ["--mastering-display", "bright"],
            // Out of range; minimum above maximum; a repeated part; one number too many; a negative number.
            ["--mastering-display", "G(50001,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"],
            ["--mastering-display", "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(50,10000000)"],
            ["--mastering-display", "G(13250,34500)G(13250,34500)R(34000,16000)WP(15635,16450)L(10000000,50)"],
            ["--mastering-display", "G(13250,34500,1)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"],
            ["--mastering-display", "G(-1,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"],
            ["--content-light", "1000"], ["--content-light", "1000,400,1"], ["--content-light", "65536,400"], ["--content-light", "a,b"],
            ["--color-primaries", "purple"], ["--color-transfer", "pq2"], ["--color-matrix", "rgb"], ["--color-range", "wide"],
        ])
    func malformedColorMetadataIsRefused(_ output: String, _ options: [String]) throws {
        try refused(["-o", output] + options, status: 64, options[0])
    }

    /// The device does not support the requested codec, profile, bit depth or size.
    @Test(
        arguments: [
            (["-o", "a.h265"], "testsrc:256x144@25:2", "i965-5916", "HEVC"),
            (["--codec", "hevc", "-o", "a.mp4"], "testsrc:256x144@25:2", "i965-5916", "HEVC"),
            (["-o", "a.h265", "--bit-depth", "10"], "testsrc:256x144@25:2", "iHDnonfree-1912", "Main 10"),
            (["-o", "a.h265", "--profile", "main10"], "testsrc:256x144@25:2", "radeonsi-raven", "Main 10"),
            (["-o", "a.h265"], "testsrc:64x48@25:2", "iHD-9A49", "64×48"), (["-o", "a.h265"], "testsrc:4x4@25:2", nil, "4×4"),
            (["-o", "a.h265"], "testsrc:8192x4320@25:2", "radeonsi-navi21", "8192×4320"),
        ] as [([String], String, String?, String)])
    func unsupportedDeviceFeaturesAreRefused(_ options: [String], _ input: String, _ personality: String?, _ words: String) throws {
        try refused(options, input: input, personality: personality, status: 69, words)
    }
}
