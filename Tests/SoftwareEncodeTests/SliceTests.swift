import BitstreamInspection
import TestOracles
import Testing
import VideoBase

@testable import SoftwareEncode

/// Encodes of different sizes with slices.
private struct SliceCase {
    struct Wish: Sendable {
        var name: String
        var change: @Sendable (inout EncoderConfiguration) -> Void
    }

    static let wishes = [
        Wish(name: "plain") { _ in },
        Wish(name: "low latency") { $0.pipeline.lowLatency = true },
        Wish(name: "little delay") { $0.pipeline.maxFrameDelay = 3 },
        Wish(name: "constant rate") {
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(300_000)
            $0.headers.hrdParameters = true
            $0.headers.accessUnitDelimiters = true
        },
    ]

    static let sizes = [(16, 64), (48, 96), (64, 128), (66, 130), (80, 512), (96, 48), (128, 320), (130, 194), (176, 32)]
    static let slices = [1, 2, 3, 20]
    /// The number of values of size, wish and slices.
    static let valueCounts = [sizes.count, wishes.count, slices.count]

    /// The indices of size, wish and slices.
    var row: [Int]

    /// Returns the number of slices of each picture, in coding order.
    private func counts(_ packets: [EncodedPacket], _ codec: VideoCodec) -> [Int] {
        let bytes = packets.flatMap(\.bytes)
        if codec == .hevc {
            let stream = HEVCStream(annexB: bytes)
            #expect(stream.violations.map(\.description) == [])
            return stream.frames.map(\.slices.count)
        }
        let stream = H264Stream(annexB: bytes)
        #expect(stream.violations.map(\.description) == [])
        return stream.frames.map(\.slices.count)
    }

    /// Expects each picture to have the reported number of slices.
    func check(_ codec: VideoCodec, preset: Int) throws {
        let ((width, height), wish, slices) = (Self.sizes[row[0]], Self.wishes[row[1]], Self.slices[row[2]])
        let (packets, description) = try SoftwareRun.encode(4, size: VideoSize(width: width, height: height)) {
            $0.codec = codec
            $0.coding.preset = preset
            $0.coding.slices = slices
            wish.change(&$0)
        }
        let what = "\(width)×\(height), \(wish.name), \(slices) slices"
        let entry = try #require(description.effective.first { $0.option == "slices" })
        #expect(entry.asked == "\(slices)")
        #expect(counts(packets, codec).map { "\($0)" } == Array(repeating: entry.used, count: 4), "\(what)")
    }
}

/// Slices of the libraries: each picture has the reported number.
@Suite struct SliceTests {
    /// libx265 crashes, or writes slices without data, in pictures with few columns of blocks, and if a picture has
    /// more than 16 NAL units. libx264 writes one slice for each thread if threads share a picture.
    @Test(arguments: [VideoCodec.h264, .hevc], [4, 7]) func pictureHasTheReportedSlices(_ codec: VideoCodec, preset: Int) throws {
        for row in PairwiseCover.rows(counts: SliceCase.valueCounts) { try SliceCase(row: row).check(codec, preset: preset) }
    }

    @Test func sliceLimitFollowsSizeAndSettings() throws {
        func most(_ width: Int, _ height: Int, _ change: (inout EncoderConfiguration) -> Void = { _ in }) -> Int {
            var configuration = EncoderConfiguration(size: VideoSize(width: width, height: height))
            configuration.codec = .hevc
            change(&configuration)
            return SoftwareEncoder.maxSlices(configuration)
        }
        #expect(most(128, 320) == 1 && most(130, 320) == 5)
        #expect(most(64, 128) == 1 && most(128, 128) == 1 && most(128, 128) { $0.coding.preset = 7 } == 4)
        #expect(most(192, 64) == 1 && most(1920, 1080) == 15 && most(1280, 720) == 12)
        #expect(most(1920, 1080) { $0.pipeline.lowLatency = true } == 1)
        let constant: (inout EncoderConfiguration) -> Void = {
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(6_000_000)
        }
        #expect(most(1920, 1080, constant) == 15)
        #expect(
            most(1920, 1080) {
                constant(&$0); $0.headers.hrdParameters = true
            } == 13)
        #expect(
            most(1920, 1080) {
                constant(&$0); $0.headers.hrdParameters = true; $0.headers.accessUnitDelimiters = true
            } == 12)
        #expect(most(640, 360) { $0.codec = .h264 } == 23)
        // Without a size, and with a configuration that cannot be encoded.
        #expect(most(0, 0) == 15 && most(128, 128) { ($0.rate.rateControl, $0.coding.preset) = (.cbr, 7) } == 1)

        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 128))
        configuration.codec = .hevc
        configuration.coding.slices = 2
        let entry = try EncoderSettings(configuration).effective.first { $0.option == "slices" }
        #expect(entry?.used == "1" && entry?.why.description.contains("three columns of 64×64 blocks") == true)
        configuration.strict = true
        let error = #expect(throws: VaencError.self) { try EncoderSettings(configuration) }
        #expect(error?.category == .unavailable && error?.message.contains("`slices`: asked 2, would be 1") == true)
    }
}

/// Slices of the libraries with every combination of size, settings and number.
@Suite struct SliceProductTests {
    @Test(arguments: [VideoCodec.h264, .hevc], [4, 7]) func pictureHasTheReportedSlices(_ codec: VideoCodec, preset: Int) throws {
        for size in SliceCase.sizes.indices {
            for wish in SliceCase.wishes.indices {
                for slices in SliceCase.slices.indices { try SliceCase(row: [size, wish, slices]).check(codec, preset: preset) }
            }
        }
    }
}
