import EncodeSession
import VAAPI
import VideoBase

/// The sessions of a group that read each picture from one surface, and those whose pictures the device scales from it.
struct SurfaceSharing {
    /// The sessions that a picture on a device reaches without a copy.
    struct Reach {
        /// The sessions that read the surface itself.
        var readers: Set<Int> = []
        /// The sessions that read a scaled picture, by size and format.
        var audiences: [GroupScaling.Audience] = []
        /// Whether each session needs a surface of its own.
        var separately = false

        var count: Int { audiences.reduce(readers.count) { $0 + $1.sessions.count } }
    }

    /// The index of the session whose surface the others read; nil if each session needs its own copy.
    private(set) var lender: Int?
    /// The sessions that the lender's surface reaches, including the lender.
    private(set) var reach = Reach()
    /// The input surfaces of each hardware session that has not failed, by its index.
    private let surfaces: [Int: InputSurfaces]
    private let size: VideoSize
    private let format: PixelFormat
    /// Whether sessions that copy from the lender's surface would read slow memory.
    private var isSlowToCopyFrom = false

    /// - Parameters:
    ///   - running: The indices of the sessions that have not failed.
    ///   - format: The format in which frames are drawn.
    ///   - size: The size of the frames.
    init(_ sessions: [CompressionSession], running: [Int], format: PixelFormat, size: VideoSize) {
        var surfaces: [Int: InputSurfaces] = [:]
        for index in running { surfaces[index] = sessions[index].core.inputSurfaces }
        self.surfaces = surfaces
        (self.size, self.format) = (size, format)
        // Usually the first session serves all others.
        for index in running where reach.count < running.count {
            guard let own = surfaces[index], own.format == format, own.visible == size else { continue }
            // The session itself reads its surface even if the driver does not let several encoders read one.
            let served = running.filter { $0 == index || surfaces[$0].map(own.serve) ?? false }
            let reached = reach(on: own.display, readers: Set(served)) { $0.visible != size || $0.format != format }
            guard reached.count > max(reach.count, 1) else { continue }
            (lender, reach) = (index, reached)
            isSlowToCopyFrom = own.isSlowToRead && reached.count < running.count
        }
    }

    /// Returns what a surface reaches.
    ///
    /// - Parameter needsScaling: Whether a session that is no reader takes a scaled or converted picture.
    private func reach(on display: Display, readers: Set<Int>, needsScaling: (InputSurfaces) -> Bool) -> Reach {
        var result = Reach(readers: readers)
        for index in surfaces.keys.sorted() where !readers.contains(index) {
            guard let own = surfaces[index], own.display === display, needsScaling(own) else { continue }
            if !own.canBeShared { result.separately = true }
            let output = SurfaceScaler.Output(
                visible: own.visible, surface: own.size.aligned(to: 16), format: own.format, count: own.count)
            let position = result.audiences.firstIndex {
                own.canBeShared && $0.output.visible == output.visible && $0.output.format == output.format
            }
            guard let position else {
                result.audiences.append(GroupScaling.Audience(sessions: [index], output: output))
                continue
            }
            result.audiences[position].sessions.append(index)
            result.audiences[position].output.include(output)
        }
        return result
    }

    /// Returns what the surface of a picture reaches that the caller provides. A session of the same size and depth reads
    /// it, or lets the device convert it.
    fileprivate func reach(of provided: SurfaceBuffer) -> Reach {
        let display = provided.surface.display
        func isReader(_ own: InputSurfaces) -> Bool {
            own.display === display && own.format.bitDepth == provided.format.bitDepth && own.visible == size
        }
        let readers = surfaces.filter { isReader($0.value) }
        let canShare = readers.values.allSatisfy(\.canBeShared)
        return reach(on: display, readers: Set(readers.keys.sorted().prefix(canShare ? readers.count : 1))) { !isReader($0) }
    }

    /// Returns the display of most sessions if no session lends its surface, and what a surface with the frame reaches
    /// there; nil if all sessions encode in software.
    fileprivate func uploadTarget() -> (display: Display, reach: Reach)? {
        if lender != nil { return nil }
        let reaches = surfaces.keys.sorted().compactMap { surfaces[$0]?.display }.map { display in
            (display: display, reach: reach(on: display, readers: []) { $0.visible != size || $0.format != format })
        }
        return reaches.filter { $0.reach.count > 0 }.max { $0.reach.count < $1.reach.count }
    }

    /// The display of the lender.
    var display: Display? { lender.flatMap { surfaces[$0]?.display } }

    /// Whether the lender's surface, with the scaled pictures of these renditions, reaches all sessions of the list.
    func reachesAll(_ running: [Int], with renditions: [GroupScaling.Rendition]) -> Bool {
        let scaled = renditions.filter { $0.scaler != nil }.flatMap(\.sessions)
        return lender != nil && reach.readers.union(scaled).isSuperset(of: running)
    }

    /// Returns the reason why the device does not scale for a session that a picture does not reach.
    func reasonAgainstScaling(for session: Int) -> String {
        surfaces[session] == nil ? "the session encodes in software" : "the picture is not on the session's connection to the device"
    }

    /// Whether the readers can read a picture that was drawn into this buffer.
    fileprivate func canLend(_ drawn: InputBuffer) -> Bool {
        guard let lender, let own = surfaces[lender], !isSlowToCopyFrom else { return false }
        return drawn.display === own.display && drawn.format == own.format && drawn.size == own.visible
    }
}

extension SurfaceScaler.Output {
    /// Makes the surfaces large and numerous enough for another output of the same size and format, too.
    fileprivate mutating func include(_ other: SurfaceScaler.Output) {
        surface.width = max(surface.width, other.surface.width)
        surface.height = max(surface.height, other.surface.height)
        count = max(count, other.count)
    }
}

/// The picture of one frame of a group: the buffer to copy from, the surface that several sessions read, and the
/// pictures that the device scales from it.
struct FramePicture {
    /// The buffer to copy from.
    let source: any PixelBuffer
    /// The picture on the device, which `readers` read without a copy.
    private(set) var surface: SurfaceBuffer?
    private var readers: Set<Int> = []
    /// The renditions of the picture on the device.
    private(set) var renditions: [GroupScaling.Rendition] = []
    /// The pictures that are being scaled; nil before scaling has begun.
    var work: GroupScaling.Work?
    /// The scaled pictures by session; nil before they are complete.
    var scaled: [Int: SurfaceBuffer]?
    /// Whether the picture was copied to the device for the scalers.
    private(set) var isUploaded = false
    private let sharing: SurfaceSharing
    private let scaling: GroupScaling

    /// - Throws: `usage` if the buffer was encoded already or is in use.
    init(_ buffer: any PixelBuffer, _ sharing: SurfaceSharing, _ scaling: GroupScaling) throws {
        (self.sharing, self.scaling) = (sharing, scaling)
        if let drawn = buffer as? InputBuffer, sharing.canLend(drawn) {
            let lent = try drawn.lend()
            source = lent
            show(lent, sharing.reach)
        } else if let provided = buffer as? SurfaceBuffer {
            source = provided
            show(provided, sharing.reach(of: provided))
        } else {
            source = buffer
            if let target = sharing.uploadTarget() {
                // The copy is for the scalers alone, and useless without one.
                show(target.display, target.reach)
                if renditions.contains(where: { $0.scaler != nil }), let copy = try scaling.uploaded(buffer, to: target.display) {
                    (surface, isUploaded) = (copy, true)
                }
            }
        }
    }

    private mutating func show(_ picture: SurfaceBuffer, _ reach: SurfaceSharing.Reach) {
        surface = picture
        show(picture.surface.display, reach)
    }

    private mutating func show(_ display: Display, _ reach: SurfaceSharing.Reach) {
        readers = reach.readers
        renditions = scaling.renditions(for: reach.audiences, on: display, separately: reach.separately)
    }

    /// The sessions that wait for a scaled picture.
    private var scaledSessions: Set<Int> { Set(renditions.filter { $0.scaler != nil }.flatMap(\.sessions)) }

    /// Returns the sessions in the order in which they take the frame. While a drawn surface is mapped, copying from it
    /// is fast, so sessions that copy come first. A session that lends its copy comes before those that read it. The
    /// sessions that read scaled pictures come last: the device scales while the others encode.
    func order(_ running: [Int]) -> [Int] {
        if surface != nil {
            let scaled = scaledSessions
            let copying = running.filter { !readers.contains($0) && !scaled.contains($0) }
            return copying + running.filter(readers.contains) + running.filter { scaled.contains($0) && !readers.contains($0) }
        }
        guard let lender = sharing.lender else { return running }
        let scaled = Set(sharing.reach.audiences.flatMap(\.sessions))
        let others = running.filter { $0 != lender }
        return [lender] + others.filter { !scaled.contains($0) } + others.filter(scaled.contains)
    }

    /// Whether a session can read the picture on the device, or a scaled picture.
    func isOnDevice(for session: Int) -> Bool { surface != nil && (readers.contains(session) || scaledSessions.contains(session)) }

    /// Returns the picture if a session can read it without a copy; nil otherwise.
    func surface(for session: Int) -> SurfaceBuffer? { readers.contains(session) ? surface : nil }

    /// Returns the buffer to encode instead of a session's copy. The copy of the lender serves the other readers too.
    mutating func lend(_ copy: any PixelBuffer, of session: Int) throws -> any PixelBuffer {
        guard session == sharing.lender, surface == nil, let drawn = copy as? InputBuffer else { return copy }
        let lent = try drawn.lend()
        show(lent, sharing.reach)
        return lent
    }

    /// Returns the reason why the device did not scale the picture for a session.
    func reasonAgainstScaling(for session: Int) -> String {
        let other = sharing.reasonAgainstScaling(for: session)
        guard let rendition = renditions.first(where: { $0.sessions.contains(session) }) else { return other }
        return rendition.reason ?? scaling.uploadReason ?? other
    }
}
