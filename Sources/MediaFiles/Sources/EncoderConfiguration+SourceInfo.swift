public import VideoBase

extension EncoderConfiguration {
    /// Creates the configuration of `vaenc encode` without options: the source's size, rate, depth, color and HDR
    /// metadata, and the encoder's default quality instead of a bit rate.
    public init(encoding info: SourceInfo) {
        self.init(size: info.size)
        frameRate = info.frameRate
        frameRateVaries = info.frameRateVaries
        isLive = info.isLive
        // Raw pictures from a pipe have no known end, and may come from a camera.
        encodesFile = !info.isLive && (info.frameCount != nil || info.duration != nil)
        inputFormat = info.bitDepth > 8 ? .p010 : .nv12
        display.color = info.color
        display.masteringDisplay = info.masteringDisplay
        display.contentLight = info.contentLight
        display.sampleAspectRatio = info.sampleAspectRatio
    }
}

extension SinkOptions {
    /// Creates the output options of `vaenc encode` without options: the source's color, HDR metadata, sample aspect
    /// ratio, rotation, tags and chapters. Files of a live source survive a kill.
    public init(writing info: SourceInfo) {
        self.init()
        color = info.color
        masteringDisplay = info.masteringDisplay
        contentLight = info.contentLight
        sampleAspectRatio = info.sampleAspectRatio
        displayMatrix = info.displayMatrix
        metadata = info.metadata
        survivesKill = info.isLive
    }
}
