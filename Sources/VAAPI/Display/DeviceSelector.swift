/// The choice of a device: `auto`, `reference`, `software`, the path of a render node, or a PCI address.
public enum DeviceSelector: Sendable, Hashable, CustomStringConvertible {
    /// The best device that is available.
    case auto
    /// The reference driver of vaenc, which implements VA-API in software.
    case reference
    /// The software encoders, without VA-API.
    case software
    /// The render node at this path.
    case path(String)
    /// The GPU at this PCI address, in its long form: `0000:03:00.0`.
    case pci(String)

    /// Parses a selector, or returns nil if the text has none of the known forms. A path contains a slash.
    public init?(_ text: String) {
        switch text.lowercased() {
        case "auto": self = .auto
        case "reference": self = .reference
        case "software": self = .software
        default:
            if let address = PCIAddress(text) {
                self = .pci(address.description)
            } else if text.contains("/") {
                self = .path(text)
            } else {
                return nil
            }
        }
    }

    /// The selector as the text that `init(_:)` parses.
    public var description: String {
        switch self {
        case .auto: "auto"
        case .reference: "reference"
        case .software: "software"
        case .path(let path): path
        case .pci(let address): address
        }
    }
}
