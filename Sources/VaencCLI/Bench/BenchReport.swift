import Vaenc

/// The object that `vaenc bench --json` prints.
struct BenchReport: Encodable, Sendable {
    /// A clip that was encoded.
    struct Clip: Encodable, Sendable {
        var input: String
        var width: Int
        var height: Int
        /// The frame rate as a fraction, such as `30000/1001`.
        var frameRate: String
        var frames: Int

        /// The frame rate; 0 if it is not known.
        var framesPerSecond: Double {
            let parts = frameRate.split(separator: "/").compactMap { Double($0) }
            return parts.count == 2 && parts[1] > 0 ? parts[0] / parts[1] : 0
        }
    }

    struct Run: Encodable, Sendable {
        /// `vaapi`, `reference`, `software`, or `ffmpeg` for FFmpeg on the same driver.
        var path: String
        var encoder: String
        var codec: String
        var input: String
        /// The rate setting, such as `qp 30`.
        var rate: String
        var qp: Int
        var fps: Double
        var cpuMsPerFrame: Double
        var firstPacketMs: Double
        var peakKB: Int
        var bytes: Int
        var bitrate: Int
        /// The luma PSNR in dB over all frames; null if the stream could not be compared or all frames are equal.
        var psnr: Nullable<Double>
        var ssim: Nullable<Double>
    }

    struct Difference: Encodable, Sendable {
        var input: String
        var of: String
        var against: String
        /// The difference in bits for the same luma PSNR, in percent; null if the curves do not overlap.
        var percent: Nullable<Double>
        /// The difference in bits for the same luma SSIM, in percent; null if the curves do not overlap.
        var percentSSIM: Nullable<Double>
    }

    /// One picture of the clip, decoded from a stream whose size is near that of the others.
    struct Picture: Encodable, Sendable {
        var path: String
        var encoder: String
        var codec: String
        var input: String
        /// The index of the picture in presentation order.
        var frame: Int
        var qp: Int
        /// The size and the bit rate of the whole stream.
        var bytes: Int
        var bitrate: Int
        /// The luma PSNR in dB and the luma SSIM of this picture; the PSNR is null if the pictures are equal.
        var psnr: Nullable<Double>
        var ssim: Double
        /// The middle of the picture as a PNG file.
        var png: [UInt8]

        enum CodingKeys: String, CodingKey { case path, encoder, codec, input, frame, qp, bytes, bitrate, psnr, ssim }
    }

    /// The middle of an original picture as a PNG file.
    struct Original: Sendable {
        var input: String
        var frame: Int
        /// The size of the part that is shown, of this picture and of the decoded ones.
        var shown: VideoSize
        var png: [UInt8]
    }

    /// The computer that ran the encoders.
    struct Machine: Encodable, Sendable {
        var processor: String
        var processors: Int
    }

    var schema = 1
    /// The driver.
    var device: String
    /// `vaapi`, `reference` or `software`.
    var deviceKind: String
    /// The path of the render node; null if there is none.
    var devicePath: Nullable<String>
    var version = vaencVersion
    /// The start of the benchmark (ISO 8601, UTC).
    var date: String
    var machine: Machine
    /// The QPs, and the preset if one was requested.
    var qps: [Int]
    var preset: Nullable<Int>
    /// Whether `--quick` was given.
    var quick = false
    /// Whether a signal ended the benchmark before its last run.
    var interrupted = false
    /// The number of runs that were planned, without those for the pictures.
    var plannedRuns = 0
    var clips: [Clip] = []
    var runs: [Run] = []
    var bdRate: [Difference] = []
    var pictures: [Picture] = []
    var originals: [Original] = []
    /// One line for each encoder that was left out and each decision.
    var notices: [String] = []

    enum CodingKeys: String, CodingKey {
        case schema, device, deviceKind, devicePath, version, date, machine, qps, preset, quick, interrupted, plannedRuns, clips, runs, bdRate
        case pictures, notices
    }
}

extension BenchReport {
    /// States that the device is not a GPU, and what encodes instead; nil for a GPU.
    var missingGPU: String? {
        switch deviceKind {
        case DeviceKind.vaapi.rawValue: nil
        case DeviceKind.reference.rawValue: "no GPU: reference driver, an encoder in software"
        default: "no GPU: libx264 and libx265, encoders in software"
        }
    }

    /// The title of the report: the clips, and the device.
    var title: String {
        let names = clips.isEmpty ? "no clip" : clips.count > 3 ? "\(clips.count) clips" : clips.map(\.input).joined(separator: ", ")
        return "vaenc bench: \(names), \(missingGPU ?? device)"
    }

    /// Returns the encoders that have runs of a clip, in the order of the runs.
    func encoders(of input: String) -> [String] {
        var seen: Set<String> = []
        return runs.filter { $0.input == input && seen.insert($0.encoder).inserted }.map(\.encoder)
    }
}
