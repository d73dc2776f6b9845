import EncodeSession
import VAAPI
import VideoBase

/// The sessions of a group that read each picture from one surface.
struct SurfaceSharing {
    /// The index of the session whose surface the others read; nil if each session needs its own copy.
    private(set) var lender: Int?
    /// The indices of the sessions that read the surface, including the lender.
    private(set) var readers: Set<Int> = []
    /// The input surfaces of each hardware session that has not failed, by its index.
    private let surfaces: [Int: InputSurfaces]

    /// - Parameters:
    ///   - running: The indices of the sessions that have not failed.
    ///   - format: The format in which frames are drawn.
    init(_ sessions: [CompressionSession], running: [Int], format: PixelFormat) {
        var surfaces: [Int: InputSurfaces] = [:]
        for index in running { surfaces[index] = sessions[index].core.inputSurfaces }
        self.surfaces = surfaces
        // Usually the first session serves all others.
        for index in running where readers.count < running.count {
            guard let own = surfaces[index], own.format == format else { continue }
            let served = running.filter { surfaces[$0].map(own.serve) ?? false }
            // The other sessions would copy from the lent surface.
            if own.isSlowToRead, served.count < running.count { continue }
            if served.count > max(readers.count, 1) { (lender, readers) = (index, Set(served)) }
        }
    }

    /// Returns the lender if all sessions of the list read its surfaces.
    func lenderOfAll(_ running: [Int]) -> Int? { readers.isSuperset(of: running) ? lender : nil }

    /// Returns the sessions that can read the surfaces of a display in this format, or let the device convert them.
    fileprivate func sessions(on display: Display, _ format: PixelFormat) -> Set<Int> {
        let readers = surfaces.filter { $0.value.display === display && $0.value.format.bitDepth == format.bitDepth }
        let canShare = readers.values.allSatisfy(\.canBeShared)
        return Set(readers.keys.sorted().prefix(canShare ? readers.count : 1))
    }

    /// Whether the readers can read a picture that was drawn into this buffer.
    fileprivate func canLend(_ drawn: InputBuffer) -> Bool {
        guard let lender, let own = surfaces[lender] else { return false }
        return drawn.display === own.display && drawn.format == own.format
    }
}

/// The picture of one frame of a group: the buffer to copy from, and the surface that several sessions read.
struct FramePicture {
    /// The buffer to copy from.
    let source: any PixelBuffer
    /// The picture on the device, which `readers` read without a copy.
    private(set) var surface: SurfaceBuffer?
    private var readers: Set<Int>
    private let sharing: SurfaceSharing

    /// - Throws: `usage` if the buffer was encoded already or is in use.
    init(_ buffer: any PixelBuffer, _ sharing: SurfaceSharing) throws {
        self.sharing = sharing
        if let drawn = buffer as? InputBuffer, sharing.canLend(drawn) {
            let lent = try drawn.lend()
            (source, surface, readers) = (lent, lent, sharing.readers)
        } else if let provided = buffer as? SurfaceBuffer {
            (source, surface) = (provided, provided)
            readers = sharing.sessions(on: provided.surface.display, provided.format)
        } else {
            (source, surface, readers) = (buffer, nil, [])
        }
    }

    /// Returns the sessions in the order in which they take the frame. While a drawn surface is mapped, copying from it
    /// is fast, so sessions that copy come first. A session that lends its copy comes before those that read it.
    func order(_ running: [Int]) -> [Int] {
        if surface != nil { return running.filter { !readers.contains($0) } + running.filter(readers.contains) }
        guard let lender = sharing.lender else { return running }
        return [lender] + running.filter { $0 != lender }
    }

    /// Returns the picture if a session can read it without a copy; nil if the session needs a copy of `source`.
    func surface(for session: Int) -> SurfaceBuffer? { readers.contains(session) ? surface : nil }

    /// Returns the buffer to encode instead of a session's copy. The copy of the lender serves the other readers too.
    mutating func lend(_ copy: any PixelBuffer, of session: Int) throws -> any PixelBuffer {
        guard session == sharing.lender, surface == nil, let drawn = copy as? InputBuffer else { return copy }
        let lent = try drawn.lend()
        (surface, readers) = (lent, sharing.readers)
        return lent
    }
}
