import EncodePlanning
import Synchronization
import VAAPI
import VideoBase

/// Encodes one picture from the driver's memory and one from another kind of memory. Equal streams show that the driver
/// reads that memory correctly. Each driver is tried once for each profile and size. A trial that another process made counts too.
package enum InputMemoryTrial {
    fileprivate struct Key: Hashable {
        var kind: InputMemory.Kind
        var path: String?
        var vendor: String
        var profile: CodecProfile
        var size: VideoSize

        /// The values, separated by tabs. The vendor's text is last, because a driver chooses it.
        var text: String {
            [kind.rawValue, path ?? "", profile.rawValue, "\(size.width)", "\(size.height)", vendor].joined(separator: "\t")
        }
    }

    private static let results = Mutex<[Key: String?]>([:])

    /// The trials in which the streams were equal, one line for each, for another process.
    package static var successes: [String] {
        results.withLock { $0.filter { $0.value == nil }.map { $0.key.text } }.filter { !$0.contains(where: \.isNewline) }
    }

    /// Takes over a success of another process with the same drivers and devices. Ignores other texts.
    package static func assumeSuccess(_ text: String) {
        guard let key = Key(text) else { return }
        results.withLock { $0[key] = .some(nil) }
    }

    /// Returns the reason why the memory cannot be used; nil if it can. The reference driver is not tried, and no driver
    /// is tried if VAENC_INPUT_MEMORY is `direct`.
    static func difference(_ kind: InputMemory.Kind, _ display: Display, _ settings: EncodeSettings) throws -> String? {
        if display.kind == .reference || Environment.value("VAENC_INPUT_MEMORY") == "direct" { return nil }
        let key = Key(kind: kind, path: display.path, vendor: display.vendor, profile: settings.profile, size: settings.grid.coded)
        if let known = results.withLock({ $0[key] }) { return known }
        var reason: String?
        do {
            // Many drivers reject the memory at once.
            let surfaces = try InputMemory.make(kind, display, settings, count: 1)
            let own = try stream(display, settings, InputMemory.make(.driver, display, settings, count: 1))
            let other = try stream(display, settings, surfaces)
            if own != other { reason = "a picture in other memory was coded differently from one in the driver's memory" }
        } catch {
            reason = "\(error)"
        }
        results.withLock { $0[key] = .some(reason) }
        return reason
    }

    /// Returns a key frame of the test picture, as the driver codes it.
    private static func stream(_ display: Display, _ settings: EncodeSettings, _ surfaces: [Surface]) throws -> [UInt8] {
        for surface in surfaces { try unsafe surface.withUnsafePlanes { unsafe draw($0) } }
        let objects = try DeviceObjects(display, settings, inputs: surfaces)
        let inputs = InputPool(surfaces, visible: settings.inputSize)
        return try ParameterSetProbe.keyFrame(
            settings, adapter: settings.adapter(), objects: objects, inputs: inputs,
            timeoutNanoseconds: display.watch.limitNanoseconds
        ).bytes
    }

    /// Draws a pattern that differs in neighbouring rows and columns.
    private static func draw(_ planes: PixelPlanes) {
        let format = unsafe planes.format
        let size = unsafe planes.allocatedSize
        // Each row is a part of one longer row, at another position.
        let shifts = 1 << 12
        let long = (0..<format.rowBytes(plane: 0, width: size.width) + shifts).map { column in
            UInt8(truncatingIfNeeded: 5 * column ^ column >> 3)
        }
        unsafe long.withUnsafeBytes { long in
            guard let start = long.baseAddress else { return }
            for plane in 0..<format.planeCount {
                let count = format.rowBytes(plane: plane, width: size.width)
                for row in 0..<format.rows(plane: plane, height: size.height) {
                    // SAFETY: The row lies within the plane. The long row has `shifts` more bytes than any row.
                    unsafe (planes.base(plane) + row * planes.pitch(plane))
                        .copyMemory(from: start + (row * 331 + plane * 77) % shifts, byteCount: count)
                }
            }
        }
    }
}

extension InputMemoryTrial.Key {
    /// Reads a text as `text` writes it.
    fileprivate init?(_ text: String) {
        let parts = text.split(separator: "\t", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, let kind = InputMemory.Kind(rawValue: parts[0]), let profile = CodecProfile(rawValue: parts[2]),
            let width = Int(parts[3]), let height = Int(parts[4])
        else { return nil }
        self.init(
            kind: kind, path: parts[1].isEmpty ? nil : parts[1], vendor: parts[5], profile: profile,
            size: VideoSize(width: width, height: height))
    }
}
