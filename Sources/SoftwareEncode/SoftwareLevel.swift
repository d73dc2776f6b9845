import H264Syntax
import HEVCSyntax
import VideoBase

/// The levels of both codecs by number: ten times the level, and 9 for H.264's level 1b.
enum SoftwareLevel {
    /// Returns the requested level, or the lowest higher level that allows the pictures. The check is necessary because
    /// libx264 writes any level into the stream, and libx265 rejects a level that is too low.
    ///
    /// - Returns: The level; nil if no level has the requested number.
    static func fitting(_ asked: Int, _ settings: EncoderSettings) -> Int? {
        let numbers = numbers(settings.codec)
        guard let first = numbers.firstIndex(of: asked) else { return nil }
        return numbers[first...].first { allows($0, settings) } ?? numbers.last
    }

    static func numbers(_ codec: VideoCodec) -> [Int] {
        switch codec {
        case .h264: H264Syntax.Level.all.map(\.number)
        case .hevc: HEVCSyntax.Level.all.map(\.number)
        }
    }

    static func name(_ number: Int) -> String { CodecLevel(tenths: number).description }

    private static func allows(_ number: Int, _ settings: EncoderSettings) -> Bool {
        let (c, limits) = (settings.configuration, settings.limits)
        // The limits are in thousands. Without a maximum rate there is no buffer.
        let (bitrate, buffer) = limits.maxRate > 0 ? (limits.maxRate, limits.bufferSize * 1000) : (limits.bitrate, 0)
        let rate = bitrate > 0 ? BitsPerSecond(bitrate * 1000) : nil
        switch settings.codec {
        case .h264:
            guard let level = H264Syntax.Level(number: number), let profile = settings.profileOfLimits else { return false }
            return buffer <= level.maxCPBSize(profile: profile)
                && level.allows(
                    codedSize: settings.codedSize.aligned(to: 16), frameRate: c.frameRate, references: settings.storedFrames, bitrate: rate,
                    profile: profile)
        case .hevc:
            guard let level = HEVCSyntax.Level(number: number) else { return false }
            let demand = HEVCSyntax.Level.Demand(
                codedSize: settings.codedSize.aligned(to: 8), frameRate: c.frameRate, bitrate: rate, cpbSize: buffer)
            return (c.tier.map { [$0] } ?? Tier.allCases).contains { level.allows(demand, tier: $0) }
        }
    }

    /// Returns the number of reference frames that a level allows for the size of the pictures; nil if no level has
    /// this number.
    static func references(_ number: Int, _ settings: EncoderSettings) -> Int? {
        switch settings.codec {
        case .h264: H264Syntax.Level(number: number)?.maxDpbFrames(codedSize: settings.codedSize.aligned(to: 16))
        // maxDpbSize includes the current picture.
        case .hevc: HEVCSyntax.Level(number: number).map { $0.maxDpbSize(codedSize: settings.codedSize.aligned(to: 8)) - 1 }
        }
    }

    /// Returns the limits of a level over all NAL units: the rate in bits per second, the buffer size in bits, and the
    /// maximum size of pictures. Returns nil if the codec has no such level.
    static func limits(
        _ level: CodecLevel, profile: CodecProfile, tier: Tier?, size: VideoSize
    ) -> (rate: Int, buffer: Int, pictures: PictureSizeLimit)? {
        guard let number = numbers(profile.codec).first(where: { $0 == level.tenths }) else { return nil }
        switch profile.codec {
        case .h264:
            return H264Syntax.Level(number: number).map {
                (
                    $0.maxBitrate(profile: profile).value, $0.maxCPBSize(profile: profile),
                    $0.pictureSizeLimit(codedSize: size.aligned(to: 16))
                )
            }
        case .hevc:
            guard let level = HEVCSyntax.Level(number: number), let rate = level.maxBitrate(tier: tier ?? .main),
                let buffer = level.maxCPBSize(tier: tier ?? .main)
            else { return nil }
            return (rate.value, buffer, level.pictureSizeLimit(codedSize: size.aligned(to: 8), bitDepth: profile.bitDepth))
        }
    }
}
