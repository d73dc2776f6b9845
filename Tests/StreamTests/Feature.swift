import EncodeSession
import TestOracles
import VideoBase

/// An option that is requested alone, and the check that a stream has it.
struct Feature: Sendable {
    /// The name in the matrix.
    var name: String
    /// The entries of the effective configuration that belong to it; if one differs, the device lacks the feature.
    var options: [String]
    var change: @Sendable (inout EncoderConfiguration) -> Void
    var frameOptions: @Sendable (Int, [EncodedPacket]) -> FrameOptions = { _, _ in FrameOptions() }
    var before: @Sendable (Int, HardwareEncoder) throws -> Void = { _, _ in }
    /// The frame that is a key frame if the device keeps only one reference, which is lost.
    var keyOfOneReference: Int?
    /// Whether the source repeats one picture.
    var isStill = false
    /// Returns what is missing in the first stream, which requested the feature, or nil. The second stream did not
    /// request it.
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

    /// Returns the configuration with which all features are compared: P pictures at one QP.
    static func plain(_ size: VideoSize) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: size)
        configuration.rate.qp = 28
        configuration.structure.gopFrames = 250
        configuration.structure.bFrames = 0
        configuration.structure.references = 1
        return configuration
    }
}

/// Returns a check of a syntax element as FFmpeg reads it: every value of it is `value`, and differs in the plain
/// stream.
func field(_ name: String, _ value: Int) -> @Sendable (SessionRun, SessionRun) -> String? {
    { run, plain in
        let found = Set(run.trace[name])
        if found != [value] { return "\(name) is \(found.sorted()), not \(value)" }
        return Set(plain.trace[name]) == found ? "\(name) is \(value) in any case" : nil
    }
}

/// Returns a check of a value from the stream, which must differ in the plain stream.
func becomes<T: Equatable & Sendable>(
    _ what: String, _ value: T, _ read: @escaping @Sendable (SessionRun) -> T
) -> @Sendable (SessionRun, SessionRun) -> String? {
    { run, plain in
        let found = read(run)
        if found != value { return "\(what): \(found), not \(value)" }
        return read(plain) == found ? "\(what): \(found) in any case" : nil
    }
}

/// Returns a check of a condition that holds for the stream and not for the plain stream.
func holds(_ what: String, _ test: @escaping @Sendable (SessionRun) -> Bool) -> @Sendable (SessionRun, SessionRun) -> String? {
    { run, plain in !test(run) ? "not so: \(what)" : test(plain) ? "in any case: \(what)" : nil }
}
