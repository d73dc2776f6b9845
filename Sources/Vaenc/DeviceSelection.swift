import VideoBase

/// Which device to encode on.
public enum DeviceSelection: Sendable, Hashable {
    /// Hardware that works, else software; the reason stands in the session's description.
    case auto
    /// vaenc's own software VA-API driver.
    case reference
    /// x264 and x265.
    case software
    /// A DRM render node, `/dev/dri/renderD128`.
    case path(String)
    /// A PCI address, `0000:03:00.0`.
    case pci(String)

    /// Reads what `--device` takes.
    public init(_ text: String) throws {
        switch text {
        case "auto": self = .auto
        case "reference": self = .reference
        case "software": self = .software
        case _ where text.hasPrefix("/"): self = .path(text)
        case _ where Self.isPCIAddress(text): self = .pci(text.lowercased())
        default:
            throw VaencError(
                .unavailable, "no device is called \(text)",
                remedy: "use auto, reference, software, a path such as /dev/dri/renderD128 or a PCI address such as 0000:03:00.0")
        }
    }

    /// `[dddd:]bb:dd.f`, hexadecimal.
    private static func isPCIAddress(_ text: String) -> Bool {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count == 2 || fields.count == 3, let last = fields.last else { return false }
        let slot = last.split(separator: ".", omittingEmptySubsequences: false)
        guard slot.count == 2, slot[0].count == 2, slot[1].count == 1 else { return false }
        let lengths = fields.count == 3 ? [4, 2] : [2]
        return zip(fields.dropLast(), lengths).allSatisfy { $0.count == $1 && $0.allSatisfy(\.isHexDigit) }
            && slot.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }
}
