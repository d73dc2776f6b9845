import EncodeSession
import TestOracles
import VideoBase

/// Something that can be asked for, alone, and how a stream shows it.
struct Feature: Sendable {
    /// What readers of the matrix call it.
    var name: String
    /// Entries of the effective configuration that speak of it; where one differs the device lacks the feature.
    var options: [String]
    var change: @Sendable (inout EncoderConfiguration) -> Void
    var frameOptions: @Sendable (Int, [EncodedPacket]) -> FrameOptions = { _, _ in FrameOptions() }
    var before: @Sendable (Int, HardwareEncoder) throws -> Void = { _, _ in }
    /// A frame that is a key frame where the device keeps one reference, which is lost.
    var keyOfOneReference: Int?
    /// One picture, over and over.
    var isStill = false
    /// What is missing in the first stream, which asked for it; nil where nothing is. The second did not ask.
    var missing: @Sendable (SessionRun, SessionRun) -> String?

    init(
        _ name: String, _ options: String..., change: @escaping @Sendable (inout EncoderConfiguration) -> Void,
        missing: @escaping @Sendable (SessionRun, SessionRun) -> String?
    ) {
        self.name = name
        self.options = options
        self.change = change
        self.missing = missing
    }

    func with(_ change: (inout Feature) -> Void) -> Feature {
        var feature = self
        change(&feature)
        return feature
    }

    /// What everything else is measured against: P pictures at one QP.
    static func plain(_ size: VideoSize) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: size)
        configuration.qp = 28
        configuration.gopFrames = 250
        configuration.bFrames = 0
        configuration.references = 1
        return configuration
    }
}

/// Shown by a syntax element as FFmpeg reads it: every value of it is `value`, and was something else unasked.
func field(_ name: String, _ value: Int) -> @Sendable (SessionRun, SessionRun) -> String? {
    { run, plain in
        let found = Set(run.trace[name])
        if found != [value] { return "\(name) is \(found.sorted()), not \(value)" }
        return Set(plain.trace[name]) == found ? "\(name) is \(value) in any case" : nil
    }
}

/// Shown by a value taken from the stream, which was another unasked.
func becomes<T: Equatable & Sendable>(
    _ what: String, _ value: T, _ read: @escaping @Sendable (SessionRun) -> T
) -> @Sendable (SessionRun, SessionRun) -> String? {
    { run, plain in
        let found = read(run)
        if found != value { return "\(what): \(found), not \(value)" }
        return read(plain) == found ? "\(what): \(found) in any case" : nil
    }
}

/// Shown by what holds of the stream and would not unasked.
func holds(_ what: String, _ test: @escaping @Sendable (SessionRun) -> Bool) -> @Sendable (SessionRun, SessionRun) -> String? {
    { run, plain in !test(run) ? "not so: \(what)" : test(plain) ? "in any case: \(what)" : nil }
}
