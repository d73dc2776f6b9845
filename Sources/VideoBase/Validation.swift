/// Rejects values that no device accepts, in a configuration, a property, a frame's options or a change while running.
///
/// All functions throw a `VaencError` of category `.usage`.
package enum Validation {
    /// The valid bit rates in bits per second. VA-API's fields hold no larger ones.
    package static let bitrates = 1000...4_000_000_000

    package static func validate(bitrate: BitsPerSecond?, _ option: String) throws(VaencError) {
        guard let bitrate, !bitrates.contains(bitrate.value) else { return }
        throw VaencError(.usage, "`\(option)` \(bitrate) is out of range", remedy: "use 1k to 4G bits per second")
    }

    /// - Parameter vbvSize: The buffer size in bits.
    package static func validate(vbvSize: Int?) throws(VaencError) {
        guard let vbvSize, !bitrates.contains(vbvSize) else { return }
        throw VaencError(.usage, "`vbvSize` \(vbvSize) is out of range", remedy: "use 1k to 4G bits")
    }

    package static func validate(forcedKeyTimes times: [Duration]) throws(VaencError) {
        guard let time = times.first(where: { $0 < .zero }) else { return }
        throw VaencError(.usage, "a key frame cannot be forced at \(time.seconds) s", remedy: "use a time of 0 or more")
    }

    /// - Parameter frames: The indices of the frames.
    package static func validate(forcedKeyFrames frames: Set<Int>) throws(VaencError) {
        guard let frame = frames.first(where: { $0 < 0 }) else { return }
        throw VaencError(.usage, "`forcedKeyFrames` \(frame) is not the index of a frame", remedy: "use 0 or more")
    }

    package static func validate(size: VideoSize) throws(VaencError) {
        guard size.width < 1 || size.height < 1 else { return }
        throw VaencError(.usage, "a picture of \(size) has no samples", remedy: "use a width and height of 1 or more")
    }

    /// Checks the depth of a frame for a strict session.
    package static func validate(frameDepth depth: Int, codedDepth: Int) throws(VaencError) {
        if depth == codedDepth { return }
        throw VaencError(
            .usage, "strict: the frame has \(depth) bits, but the stream has \(codedDepth)",
            remedy: "use a buffer that makePixelBuffer returns, or leave out `strict`")
    }

    /// Checks the requested part of an input.
    package static func validate(start: Duration?, duration: Duration?) throws(VaencError) {
        if let start, start < .zero || start >= .seconds(1_000_000_000) {
            throw VaencError(
                .usage, "`start` \(start.seconds) is out of range",
                remedy: "use 0 to less than 1000000000 seconds")
        }
        if let duration, duration <= .zero || duration >= .seconds(1_000_000_000) {
            throw VaencError(
                .usage, "`duration` \(duration.seconds) is out of range",
                remedy: "use more than 0 and less than 1000000000 seconds")
        }
    }

    package static func validate(frameRate rate: Rational) throws(VaencError) {
        let terms = 1...Int64(Int32.max)
        guard terms.contains(Int64(rate.numerator)), terms.contains(Int64(rate.denominator)), (0.001...1000).contains(rate.value)
        else {
            throw VaencError(
                .usage, "the frame rate \(rate) is out of range",
                remedy: "use 0.001 to 1000 frames per second, for example 30000/1001")
        }
    }

    /// Rejects a sample aspect ratio that sar_width and sar_height, which have 16 bits, cannot represent.
    package static func validate(sampleAspectRatio ratio: Rational) throws(VaencError) {
        let terms = 1...65535
        let isWhole = ratio.numerator > 0 && ratio.denominator > 0
        guard isWhole, terms.contains(ratio.reduced.numerator), terms.contains(ratio.reduced.denominator) else {
            throw VaencError(
                .usage, "the sample aspect ratio \(ratio) is invalid",
                remedy: "use the width and height of a sample, each from 1 to 65535, for example 16/11")
        }
    }

    /// Rejects the identity matrix, which H.264 (E.2.1) and H.265 (E.3.1) allow only with 4:4:4 samples.
    package static func validate(color: ColorDescription) throws(VaencError) {
        guard color.matrix == 0 else { return }
        throw VaencError(
            .usage, "the matrix 0 (RGB) is not possible: streams have 4:2:0 samples",
            remedy: "use 1 (BT.709), 6 (BT.601), 9 (BT.2020), or 2 (unspecified)")
    }

    package static func validate(masteringDisplay display: MasteringDisplay?) throws(VaencError) {
        guard let display, !display.isPossible else { return }
        throw VaencError(
            .usage, "`masteringDisplay` \(display) is invalid",
            remedy: "use coordinates from 0 to 50000, and a maximum luminance above the minimum")
    }

    /// Rejects a bit depth that the codec does not support or that contradicts the profile.
    package static func validate(
        bitDepth: Int?, profile: CodecProfile?, codec: VideoCodec
    ) throws(VaencError) {
        guard let bitDepth else { return }
        guard bitDepth == 8 || bitDepth == 10 else {
            throw VaencError(.usage, "vaenc does not encode a bit depth of \(bitDepth)", remedy: "use 8 or 10")
        }
        if !codec.bitDepths.contains(bitDepth) {
            throw VaencError(.usage, "\(codec.standardName) is encoded in 8 bits only", remedy: "use HEVC for 10 bits")
        }
        if let profile, profile.bitDepth != bitDepth {
            throw VaencError(
                .usage, "a bit depth of \(bitDepth) contradicts the profile \(profile.rawValue)",
                remedy: "leave one of them out")
        }
    }

    /// Rejects a tier of H.264, and the High tier for levels below 4 (H.265 Table A.9).
    package static func validate(tier: Tier?, level: CodecLevel?, codec: VideoCodec) throws(VaencError) {
        guard let tier else { return }
        if codec.tiers.isEmpty {
            throw VaencError(.usage, "\(codec.standardName) has no tiers", remedy: "leave out the tier, or use HEVC")
        }
        if tier == .high, let level, level.tenths < 40 {
            throw VaencError(
                .usage, "level \(level) has no High tier",
                remedy: "use level 4.0 or higher, or the Main tier")
        }
    }

    package static func validate(_ limit: DataRateLimit) throws(VaencError) {
        let bytes = 1...(1 << 40)
        guard bytes.contains(limit.bytes), limit.duration > .zero, limit.duration <= .seconds(3600) else {
            throw VaencError(
                .usage, "the data-rate limit of \(limit.bytes) bytes in \(limit.duration.seconds) s is out of range",
                remedy: "use \(bytes.lowerBound) to \(bytes.upperBound) bytes, and more than 0 and up to 3600 seconds")
        }
    }

    /// Rejects a region that is outside the picture, or whose difference is not a valid QP difference.
    package static func validate(_ region: RegionOfInterest, in size: VideoSize) throws(VaencError) {
        guard (1...65535).contains(region.width), (1...65535).contains(region.height),
            (0...65535).contains(region.x), (0...65535).contains(region.y), SettingRange.qpDelta.contains(region.qpDelta)
        else {
            throw VaencError(
                .usage,
                "the region of interest \(region.width)×\(region.height) at \(region.x),\(region.y) with "
                    + "\(region.qpDelta) is invalid",
                remedy: "use a size from 1 to 65535, coordinates from 0 to 65535 and a QP difference from -51 to 51")
        }
        guard region.x < size.width, region.y < size.height else {
            throw VaencError(
                .usage, "the region of interest at \(region.x),\(region.y) is outside the \(size) picture",
                remedy: "use coordinates within the picture")
        }
    }
}

extension FrameOptions {
    /// Rejects options that no encoder can apply to a frame, before the frame is accepted.
    ///
    /// - Parameter size: The size of the frame.
    /// - Throws: A `VaencError` of category `.usage`.
    package func check(_ size: VideoSize) throws(VaencError) {
        for region in regionsOfInterest ?? [] { try Validation.validate(region, in: size) }
        // The field cc_count has five bits.
        guard captions.count % 3 == 0, captions.count <= 31 * 3 else {
            throw VaencError(
                .usage, "captions of \(captions.count) bytes are not the cc_data of one picture",
                remedy: "use at most 31 triplets of a flag byte and two data bytes")
        }
        for data in userData where data.count < 16 {
            throw VaencError(
                .usage, "user data of \(data.count) bytes is too short for its UUID",
                remedy: "begin it with a UUID of 16 bytes")
        }
        // From about 1 MB on, libx264 writes messages beyond its buffer, and a device's coded buffer has no room for
        // more.
        let bytes = dynamicHDR.count + userData.reduce(0) { $0 + $1.count }
        guard bytes <= 262_144 else {
            throw VaencError(
                .usage, "the user data and dynamic HDR data of a frame have \(bytes) bytes",
                remedy: "use at most 262144 bytes a frame, or distribute them over several frames")
        }
        // The country (United States), the provider (Samsung), its code for HDR10+, and the application's identifier.
        guard dynamicHDR.isEmpty || dynamicHDR.starts(with: [0xB5, 0x00, 0x3C, 0x00, 0x01, 0x04]) else {
            throw VaencError(
                .usage, "the dynamic HDR data of \(dynamicHDR.count) bytes is not HDR10+",
                remedy: "begin it with the bytes B5 00 3C 00 01 04")
        }
    }
}
