import TestOracles
import Testing

/// Tests the reference driver in processes whose FFmpeg is not the one that the driver was compiled for.
@Suite struct ForeignFFmpegTests {
    /// Returns names of functions that a process's global scope may have: FFmpeg's own, and those of another build of
    /// vaenc.
    private static func names() throws -> [String] {
        let libraries = try ["avutil", "swscale", "swresample", "avcodec", "avformat"].map { name in
            let file = try ProcessRunner.run("cc", ["-print-file-name=lib\(name).so"])
            return String(file.output.split(separator: "\n").first ?? "")
        }
        let symbols = try ProcessRunner.run("nm", ["-D", "--defined-only"] + libraries)
        #expect(symbols.status == 0, "\(symbols.errors)")
        let functions = symbols.output.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard words.count == 3, words[1] == "T" else { return nil }
            return words[2].split(separator: "@").first.map(String.init)
        }
        return Set(functions).sorted() + ["vaenc_libav", "vaenc_libav_is_installed", "vaenc_libav_has_logged"]
    }

    /// Returns C functions of those names; each prints its name and ends the process.
    private static func source() throws -> String {
        let names = try names()
        #expect(names.count > 500 && names.contains("av_malloc") && names.contains("sws_alloc_context"))
        return names.reduce("#include <stdio.h>\n#include <stdlib.h>\n") { text, name in
            text + "void \(name)(void) { fputs(\"the program's \(name)\\n\", stderr); abort(); }\n"
        }
    }

    @Test func programKeepsItsOwnFFmpeg() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write(Array(try Self.source().utf8), to: folder + "/names.c")
            let built = try ProcessRunner.run(
                "cc",
                [
                    "-w", "-fno-builtin", "-rdynamic", "-o", folder + "/program", Checkout.root + "/Tests/ForeignFFmpeg/program.c",
                    folder + "/names.c", "-lva", "-lva-drm",
                ])
            try #require(built.status == 0, "\(built.errors)")
            let result = try RenderNode.runOnDriver(folder + "/program", [])
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    /// vaenc loads FFmpeg too, for containers; the driver decodes the pictures.
    @Test func vaencAndDriverUseTheInstalledFFmpeg() throws {
        try Files.withTemporaryFolder { folder in
            try Files.write(Array(try Self.source().utf8), to: folder + "/names.c")
            let built = try ProcessRunner.run(
                "cc", ["-w", "-fno-builtin", "-shared", "-fPIC", "-o", folder + "/names.so", folder + "/names.c"])
            try #require(built.status == 0, "\(built.errors)")
            let clip = try ProcessRunner.run(
                Checkout.vaenc, ["encode", "testsrc:64x48@25:5", "--device", "reference", "-o", folder + "/a.mp4"])
            try #require(clip.status == 0, "\(clip.errors)")
            func decode(_ environment: [String: String?]) throws -> [UInt8] {
                let result = try ProcessRunner.run(
                    Checkout.vaenc, ["decode", folder + "/a.mp4", "--device", "reference", "--overwrite", "-o", folder + "/a.y4m"],
                    environment: environment)
                #expect(result.status == 0, "\(result.errors)")
                return try Files.read(folder + "/a.y4m")
            }
            let plain = try decode([:])
            #expect(try decode(["LD_PRELOAD": folder + "/names.so"]) == plain)
        }
    }

    /// The driver does not offer what it cannot do.
    @Test func driverWithoutFFmpegOffersNoDecoding() throws {
        let hidden = try PreloadedLibrary.compile("FakeNode/without-ffmpeg.c", libraries: ["-ldl"])
        let result = try RenderNode.runOnDriver(
            behind: hidden, "vainfo", ["--display", "drm", "--device", "/dev/dri/renderD128"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("VAProfileHEVCMain10") && result.output.contains("VAEntrypointEncSlice"))
        #expect(!result.output.contains("VAEntrypointVLD") && !result.output.contains("VAEntrypointVideoProc"))
    }

    @Test(arguments: ["libvaenc_drv_video.so", "libvaenc_fault_drv_video.so"])
    func driversExportOnlyTheirEntryPoint(file: String) throws {
        let result = try ProcessRunner.run(
            Checkout.root + "/scripts/check-exports.sh", ["\(Checkout.driverFolder)/\(file)"])
        #expect(result.status == 0, "\(result.errors)")
    }
}
