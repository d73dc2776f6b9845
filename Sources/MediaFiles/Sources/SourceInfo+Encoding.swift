public import VideoBase

extension EncoderConfiguration {
    /// Creates the configuration that `vaenc encode` has without options: the size, rate, depth, colour and HDR metadata of the
    /// source, and the encoder's default quality in place of a bit rate.
    public init(encoding info: SourceInfo) {
        self.init(size: info.size)
        frameRate = info.frameRate
        frameRateVaries = info.frameRateVaries
        isLive = info.isLive
        inputFormat = info.bitDepth > 8 ? .p010 : .nv12
        color = info.color
        masteringDisplay = info.masteringDisplay
        contentLight = info.contentLight
        sampleAspectRatio = info.sampleAspectRatio
    }
}

extension SinkOptions {
    /// Creates the options that `vaenc encode` has without options, for a source's pictures: their colour, HDR metadata, shape and
    /// turn, and the source's tags and chapters. Files of a live source survive a kill.
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
