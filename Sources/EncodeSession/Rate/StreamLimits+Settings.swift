import RateControl
import VideoBase

extension StreamLimits {
    init(_ settings: EncodeSettings) {
        self.init(
            frameRate: settings.frameRate, levelRate: settings.level.maxBitrate, levelBuffer: settings.level.maxCPBSize)
        levelPictures = settings.level.pictureSizeLimit(settings.grid, settings.profile)
        levelSlices = settings.level.maxSlices
        maxFrameBytes = settings.rate.maxFrameBytes
        maxSliceBytes = settings.maxSliceBytes
        follow(settings.rate, settings.frameRate)
    }

    /// Applies another rate. Windows apply only if vaenc controls the rate.
    mutating func follow(_ rate: RateSettings, _ frameRate: Rational) {
        self.frameRate = frameRate
        windows = rate.usesVaencRateControl ? rate.limits : []
        maxBitrate = rate.mode == .vbr || rate.mode == .qvbr ? rate.maxBitrate : nil
    }
}

extension RateComplianceTracker {
    init(_ settings: EncodeSettings) { self.init(StreamLimits(settings)) }

    /// Applies another rate from the next planned picture on.
    ///
    /// - Parameter pending: The number of pictures that were planned before and are not added yet.
    mutating func change(_ rate: RateSettings, _ frameRate: Rational, pending: Int) {
        // The limits of pictures and of the level do not change.
        var limits = StreamLimits(frameRate: frameRate, levelRate: 1, levelBuffer: 1)
        limits.follow(rate, frameRate)
        change(limits, pending: pending)
    }
}
