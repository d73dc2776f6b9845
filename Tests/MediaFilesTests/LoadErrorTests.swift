import CLibAV
import LibAV
import Testing
import VideoBase

/// The error for a library that cannot be loaded: it names a package if one is missing, but not if a limit is the
/// cause.
@Suite struct LoadErrorTests {
    @Test(arguments: [
        ("libavcodec.so.59: cannot open shared object file: No such file or directory", "install the package libavcodec"),
        ("libx265.so.199: failed to map segment from shared object", "ulimit -v"),
        ("libavcodec.so.59: cannot allocate memory for program header: Cannot allocate memory", "ulimit -v"),
        ("libavformat.so.59: cannot map zero-fill pages: Cannot allocate memory", "ulimit -v"),
        ("libavcodec.so.59: failed to map segment from shared object: Operation not permitted", "install the package libavcodec"),
        ("libavcodec.so.59: cannot open shared object file: Too many open files", "ulimit -n"),
        ("libswresample.so.4: cannot open shared object file: Too many open files in system", "ulimit -n"),
        ("libavcodec.so.59 has no avcodec_open2", "install the package libavcodec"),
    ])
    func limitsAreNotMissingPackages(_ loaded: String, _ remedy: String) {
        let error = LibAV.loadError(loaded, [.codec, .format])
        #expect(error.category == .unavailable)
        #expect(error.remedy?.contains(remedy) == true, "\(error)")
        #expect(error.message.contains(loaded))
        #expect(remedy.hasPrefix("install") || error.remedy?.contains("install") == false, "\(error)")
    }

    /// Log lines of libav that name options of the ffmpeg program are not for vaenc's users.
    @Test(arguments: [
        ("use vstrict=-1 / -strict -1 to use it anyway", true),
        (
            "Malformed AAC bitstream detected: use the audio bitstream filter 'aac_adtstoasc' to fix it ('-bsf:a aac_adtstoasc' option with ffmpeg)",
            true
        ),
        ("flac in MP4 support is experimental, add '-strict -2' if you want to use it", true), ("-mode must be set", true),
        ("Codec mpeg4 is not supported in the official FLV specification", false), ("moov atom not found", false),
        ("non-existing PPS 0 referenced", false), ("Application provided invalid, non monotonically increasing dts: 5 >= -3", false), ("-", false),
        ("", false),
    ])
    func logLinesWithFFmpegOptionsAreRecognized(_ line: String, _ names: Bool) {
        #expect(unsafe vaenc_libav_names_option(line) == names)
    }
}
