/// Which device a person asked for: `auto`, `reference`, `software`, a render node's path or a PCI address.
public enum DeviceSelector: Sendable, Hashable, CustomStringConvertible {
    case auto
    case reference
    case software
    case path(String)
    /// In the long form, `0000:03:00.0`.
    case pci(String)

    /// nil for text that is none of the forms (a path has a slash).
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
