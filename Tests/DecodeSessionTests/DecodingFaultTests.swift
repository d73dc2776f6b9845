import DecodeSession
import ReferenceDisplay
import Synchronization
import TestOracles
import Testing
import VAAPI
import VideoBase

/// A device fails during decoding: it is reinitialized once, then libavcodec decodes in software, and every picture is
/// output.
@Suite struct DecodingFaultTests {
    private static let number = Atomic<Int>(0)

    /// The result of decoding a stream on a device with faults.
    private struct FaultyRun {
        var run = Run()
        var pictures: [PlanarFrame?] = []
        var error: (any Error)?
        var calls: [String: Int] = [:]
    }

    private func decode(_ stream: Stream, _ rules: String, limitMilliseconds: UInt64 = 600_000) throws -> FaultyRun {
        try Files.withTemporaryFolder { folder in
            let number = Self.number.add(1, ordering: .relaxed).newValue
            let trace = folder + "/calls"
            var result = FaultyRun()
            do {
                // All displays must end here: the counts are written when the last one ends.
                let display = try ReferenceDisplay.open(
                    faults: ["VAENC_FAULT": "# decode \(number); \(rules)", "VAENC_FAULT_TRACE": trace],
                    limitNanoseconds: limitMilliseconds * 1_000_000)
                let collector = Collector()
                collector.keepsPictures = false
                defer { (result.run, result.pictures) = (collector.run, collector.pictures) }
                let pipeline = try collector.pipeline(
                    DecompressionConfiguration(codec: stream.codec), on: DecodeDevice(display))
                for unit in stream.units {
                    try pipeline.decode([0, 0, 0, 1] + unit, FrameTiming(presentation: .zero), endsPicture: false)
                }
                try pipeline.finish()
                collector.run.statistics = pipeline.statistics
            } catch { result.error = error }
            let text = Files.exists(trace) ? String(decoding: try Files.read(trace), as: UTF8.self) : ""
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words.count == 2 { result.calls[String(words[0])] = Int(words[1]) }
            }
            return result
        }
    }

    private func expectWhole(_ stream: Stream, _ rules: String) throws {
        let result = try decode(stream, rules)
        #expect(result.error == nil, "\(rules)")
        let isSame = result.pictures == stream.pictures
        #expect(isSame, "\(rules): \(result.pictures.count) of \(stream.pictures.count) pictures, \(result.run.skipped)")
        #expect(result.run.addsUp && result.run.skipped.isEmpty, "\(rules): \(result.run.statistics)")
        #expect(result.run.statistics.rebuilds <= 2, "\(rules)")
    }

    /// The calls of decoding, each of which is made to fail. A failure to destroy an object may be unnoticed.
    private static let calls = [
        "vaCreateConfig", "vaCreateContext", "vaCreateSurfaces", "vaQuerySurfaceAttributes", "vaQueryConfigProfiles", "vaCreateBuffer",
        "vaBeginPicture", "vaRenderPicture", "vaEndPicture", "vaSyncSurface2", "vaDestroyBuffer", "vaDestroySurfaces",
        "vaDestroyContext", "vaDestroyConfig",
    ]

    /// Each call loses the device, or is refused, the first time and at about seven further indices.
    @Test(arguments: VideoCodec.allCases)
    func anyFailingCallLosesNoPicture(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 12, width: 64, height: 64)
        let sound = try decode(stream, "")
        let isSame = sound.pictures == stream.pictures
        #expect(isSame && sound.run.statistics.rebuilds == 0)
        #expect(sound.calls["vaEndPicture"] == 12, "the device decodes")
        for call in Self.calls {
            guard let count = sound.calls[call] else { continue }
            try expectWhole(stream, "\(call)@1=lost")
            for (index, number) in stride(from: 1, through: count, by: max(1, count / 6)).enumerated() {
                try expectWhole(stream, "\(call)@\(number)=\(["status:1", "lost", "status:7"][index % 3])")
            }
        }
    }

    /// Each status of libva is returned once by one call, and permanently by another, with HEVC the other way round.
    @Test(arguments: VideoCodec.allCases)
    func anyStatusLosesNoPicture(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 8, width: 64, height: 64)
        let calls = ["vaCreateBuffer", "vaBeginPicture", "vaRenderPicture", "vaEndPicture", "vaSyncSurface2"]
        for (index, status) in VAStatusCode.named.enumerated() where status != .success {
            let times = codec == .h264 ? ["4", "4+"] : ["4+", "4"]
            for (call, when) in zip([calls[index % 5], calls[(index + 2) % 5]], times) {
                // The driver returns these for a damaged picture, and for a missing call.
                if call == "vaSyncSurface2", [.decodingError, .unimplemented].contains(status) { continue }
                try expectWhole(stream, "\(call)@\(when)=status:\(status.rawValue)")
            }
        }
    }

    /// The second device fails too, at any of its pictures: libavcodec continues in software.
    @Test(arguments: VideoCodec.allCases)
    func secondDeviceFailureFallsBackToSoftware(codec: VideoCodec) throws {
        let stream = try Stream.make(codec, frames: 12, width: 64, height: 64)
        for picture in 6...16 { try expectWhole(stream, "vaEndPicture@5=lost; vaEndPicture@\(picture)=lost") }
        for call in ["vaInitialize@2+", "vaCreateConfig@2+", "vaCreateContext@2+", "vaCreateSurfaces@*/9"] {
            try expectWhole(stream, "vaEndPicture@5=lost; \(call)=status:1")
        }
    }
}
