import EncodeSession
import MediaFiles
import VAAPI
import VideoBase

/// The scalers of a session group: one for each size and format that differs from the frames'. One thread at a time.
final class GroupScaling {
    /// The sessions that read the same scaled pictures.
    struct Audience {
        /// The indices of the sessions.
        var sessions: [Int]
        var output: SurfaceScaler.Output
    }

    /// A scaler, and the account of its use.
    final class Rendition {
        let display: Display
        /// The sessions that read the scaled pictures.
        fileprivate(set) var sessions: [Int]
        /// The scaler; nil if the device cannot scale for these sessions.
        fileprivate(set) var scaler: SurfaceScaler?
        private let requested: SurfaceScaler.Output
        private let color: ColorDescription
        private var failures = 0
        /// The reason why the latest picture was not scaled on the device.
        private(set) var reason: String?

        /// The number of consecutive failures after which the device is no longer used.
        fileprivate static let failureLimit = 3

        init(_ display: Display, _ audience: Audience, color: ColorDescription) {
            self.display = display
            self.color = color
            (sessions, requested) = (audience.sessions, audience.output)
            makeScaler()
        }

        private func makeScaler() {
            do { scaler = try SurfaceScaler(display, requested, color: color) } catch {
                scaler = nil
                reason = "\(error)"
            }
        }

        /// Whether the rendition serves an audience, possibly with more or larger surfaces than necessary.
        func serves(_ audience: Audience, on display: Display, separately: Bool) -> Bool {
            let (own, wanted) = (requested, audience.output)
            return self.display === display && own.visible == wanted.visible && own.format == wanted.format && own.count >= wanted.count
                && own.surface.width >= wanted.surface.width && own.surface.height >= wanted.surface.height
                && (!separately || sessions == audience.sessions)
        }

        /// Records an error of the scaler, and replaces the scaler: a context of the driver may be unusable after an error.
        /// After repeated errors, or if the device cannot scale the pictures at all, there is no scaler any more. Blocks
        /// while the driver works.
        func failed(_ error: any Error) {
            failures += 1
            reason = "\(error)"
            scaler = nil
            let isPermanent = (error as? VaencError)?.category == .unavailable
            if !isPermanent, failures < Self.failureLimit { makeScaler() }
        }

        func succeeded() { failures = 0 }
    }

    private let color: ColorDescription
    private var renditions: [Rendition] = []
    private var upload: SurfaceUpload?
    private var uploadFailures = 0
    private let uploadConverter: PixelConverter

    /// - Parameter color: The color description of the frames, which scaling keeps.
    init(color: ColorDescription) {
        self.color = color
        uploadConverter = PixelConverter(color: color)
    }

    /// Returns the renditions for audiences on a display. Creates missing scalers; blocks while the driver works.
    func renditions(for audiences: [Audience], on display: Display, separately: Bool) -> [Rendition] {
        if audiences.isEmpty { return [] }
        let used = audiences.map { audience in
            guard let known = renditions.first(where: { $0.serves(audience, on: display, separately: separately) }) else {
                return Rendition(display, audience, color: color)
            }
            known.sessions = audience.sessions
            return known
        }
        // The others belong to sessions that failed or changed, or to a device that was reinitialized.
        renditions = used
        return used
    }

    /// Copies a picture of the program's memory into a surface that the scalers can read; nil if the device fails.
    /// After three failures in a row, it is not tried again.
    ///
    /// - Throws: Errors of the caller's buffer.
    func uploaded(_ buffer: any PixelBuffer, to display: Display) throws -> SurfaceBuffer? {
        guard uploadFailures < Rendition.failureLimit else { return nil }
        let format: PixelFormat = buffer.format.bitDepth > 8 ? .p010 : .nv12
        do {
            var target = upload
            if target?.display !== display || target?.format != format || target?.size != buffer.size {
                target = try SurfaceUpload(display, size: buffer.size, format: format)
                upload = target
            }
            // SAFETY: both sets of planes are valid while the closures run.
            let picture = unsafe try target?.upload { planes in
                try unsafe buffer.withUnsafePlanes { unsafe try uploadConverter.convert($0, to: planes) }
            }
            uploadFailures = 0
            return picture
        } catch let error as VAError {
            uploadFailures += 1
            upload = nil
            uploadReason = "\(error)"
            return nil
        }
    }

    /// The reason why a picture could not be copied to the device.
    private(set) var uploadReason: String?

    /// The pictures of one frame that are being scaled, by the position of the rendition.
    struct Work: Sendable {
        fileprivate var pictures: [Result<SurfaceScaler.Picture, any Error>?] = []
    }

    /// The scaled pictures of one frame, by the position of the rendition.
    struct Results: Sendable {
        fileprivate var pictures: [Result<SurfaceBuffer, any Error>?] = []
    }

    /// The scalers of the renditions of a frame, for use on another thread.
    struct Scalers: Sendable {
        private let list: [SurfaceScaler?]

        init(_ renditions: [Rendition]) { list = renditions.map(\.scaler) }

        /// Submits a picture to all scalers. Blocks while all surfaces of a scaler are in use.
        func start(_ source: SurfaceBuffer) -> Work {
            Work(pictures: list.map { scaler in scaler.map { scaler in Result { try scaler.start(source) } } })
        }

        /// Waits for the pictures. Afterwards, the device no longer reads the source.
        static func finish(_ work: Work) -> Results {
            Results(
                pictures: work.pictures.map { picture in picture.map { picture in picture.flatMap { picture in Result { try picture.finish() } } } })
        }
    }

    /// Records the results, and returns the scaled pictures by session.
    static func account(_ results: Results, of renditions: [Rendition]) -> [Int: SurfaceBuffer] {
        var pictures: [Int: SurfaceBuffer] = [:]
        for (rendition, result) in zip(renditions, results.pictures) {
            switch result {
            case .success(let picture)?:
                rendition.succeeded()
                for session in rendition.sessions { pictures[session] = picture }
            case .failure(let error)?: rendition.failed(error)
            case nil: break
            }
        }
        return pictures
    }
}

/// Where a session's pictures were scaled, and why, for the effective configuration.
struct ScalingAccount: Sendable {
    /// The size of the frames; nil if the session is not in a group whose frames have another size.
    var frameSize: VideoSize?
    /// Whether the device is to scale the next picture.
    var isOnDevice = false
    var onDevice = 0
    var inSoftware = 0
    /// The reason why the latest picture that the CPU scaled was not scaled on the device.
    var reason = ""

    /// Returns the report entry of a session; nil if its pictures are not scaled.
    ///
    /// - Parameter size: The session's size.
    func entry(_ size: VideoSize) -> EffectiveEntry? {
        guard let frameSize, frameSize != size else { return nil }
        guard onDevice > 0 || inSoftware == 0 && isOnDevice else {
            return EffectiveEntry(option: "scaling", asked: nil, used: "software", why: .explained(reason))
        }
        let rest = inSoftware == 0 ? "" : ", but the CPU scaled \(inSoftware) of \(inSoftware + onDevice) pictures: \(reason)"
        return EffectiveEntry(
            option: "scaling", asked: nil, used: "device", why: .explained("by its video processor, from frames of \(frameSize)\(rest)"))
    }
}

extension RegionOfInterest {
    /// Returns the region in a picture of another size, extended to whole samples; nil if it is outside the picture.
    func scaled(from size: VideoSize, to other: VideoSize) -> RegionOfInterest? {
        func edges(_ start: Int, _ length: Int, _ from: Int, _ to: Int) -> Range<Int>? {
            let (first, end) = (min(start, from), min(start + length, from))
            let low = first * to / from
            let high = (end * to + from - 1) / from
            return low < high ? low..<high : nil
        }
        guard let columns = edges(x, width, size.width, other.width), let rows = edges(y, height, size.height, other.height) else { return nil }
        return RegionOfInterest(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count, qpDelta: qpDelta)
    }
}
