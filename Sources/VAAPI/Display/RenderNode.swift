internal import CDRM
internal import CVA
internal import Glibc
internal import VideoBase

/// A GPU in the kernel's view: a character device of the DRM subsystem.
package struct RenderNode: Sendable, Hashable {
    /// The path of the device file: `/dev/dri/renderD128`.
    package var path: String
    /// The PCI address (`0000:03:00.0`), or nil if the GPU is not on PCI or the system does not report it.
    package var pciAddress: String?

    /// Returns the render nodes of this machine, ordered by number.
    package static func all() -> [RenderNode] {
        guard let folder = unsafe opendir("/dev/dri") else { return [] }
        defer { unsafe closedir(folder) }
        var numbers: [UInt32] = []
        while let entry = unsafe readdir(folder) {
            // SAFETY: `d_name` is a C string inside the entry, which is valid until the next readdir.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name.hasPrefix("renderD"), let number = UInt32(name.dropFirst("renderD".count)) { numbers.append(number) }
        }
        return numbers.sorted().map {
            RenderNode(path: "/dev/dri/renderD\($0)", pciAddress: pciAddress(ofDevice: 226, $0))
        }
    }

    /// Opens the node for reading and writing, with close-on-exec.
    ///
    /// - Throws: A `VaencError`: `.unavailable` if the node does not exist or is not a render node, `.noPermission` if
    ///   it may not be opened.
    static func open(_ path: String) throws(VaencError) -> CInt {
        var descriptor: CInt
        repeat {
            descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC)
        } while descriptor < 0 && errno == EINTR
        if descriptor < 0 { throw openFailure(path, errno) }
        return descriptor
    }

    /// Returns the error for a node that could not be opened, with a remedy.
    static func openFailure(_ path: String, _ number: Int32) -> VaencError {
        switch number {
        case ENXIO, ENODEV:
            VaencError(
                .unavailable, "the device \(path) does not respond: its kernel driver is not loaded",
                remedy: "see `dmesg`, or use another device")
        case ENOENT, ENOTDIR:
            VaencError(.unavailable, "there is no device \(path)", remedy: advice())
        case EACCES, EPERM:
            VaencError(
                .noPermission, "no permission to open \(path)",
                remedy: "add yourself to the group render (`sudo usermod -aG render $USER`) and log in again")
        case EISDIR:
            VaencError(.unavailable, "\(path) is not a GPU's render node", remedy: advice())
        case EMFILE, ENFILE: VaencError.noDescriptor("for \(path)")
        default:
            VaencError(
                .unavailable, "cannot open \(path) (\(unsafe String(cString: strerror(number))))",
                remedy: "choose another device" + VaencError.orSoftware)
        }
    }

    /// The advice for a machine without a device.
    package static let softwareAdvice = "; \(VaencError.softwareAdvice) (libx264 and libx265)"

    /// Returns a sentence that lists the available devices.
    package static func advice() -> String {
        let nodes = all().map(\.path)
        return nodes.isEmpty
            ? "this machine has no render node" + softwareAdvice
            : "use \(nodes.joined(separator: ", "))"
    }

    /// Returns the name of the kernel driver behind an open node (drmGetVersion), or nil if the kernel does not report
    /// it.
    static func kernelDriver(of descriptor: CInt) -> String? {
        guard let version = unsafe drmGetVersion(descriptor) else { return nil }
        defer { unsafe drmFreeVersion(version) }
        guard let name = unsafe version.pointee.name, unsafe version.pointee.name_len > 0 else { return nil }
        return unsafe String(cString: name)
    }

    /// Returns the PCI address of the device behind an open node, or nil if it has none.
    static func pciAddress(of descriptor: CInt) -> String? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return nil }
        // The layout of dev_t in glibc: gnu_dev_major, gnu_dev_minor.
        let device = UInt64(status.st_rdev)
        let major = UInt32(truncatingIfNeeded: (device >> 8) & 0xfff | (device >> 32) & 0xffff_f000)
        let minor = UInt32(truncatingIfNeeded: device & 0xff | (device >> 12) & 0xffff_ff00)
        return pciAddress(ofDevice: major, minor)
    }

    private static func pciAddress(ofDevice major: UInt32, _ minor: UInt32) -> String? {
        guard let real = unsafe realpath("/sys/dev/char/\(major):\(minor)/device", nil) else { return nil }
        defer { unsafe free(real) }
        let name = unsafe String(cString: real).split(separator: "/").last.map(String.init)
        return name.flatMap { PCIAddress($0)?.description }
    }
}

/// The address of a PCI device: domain, bus, device, function.
package struct PCIAddress: Sendable, Hashable, CustomStringConvertible {
    package var domain: UInt32
    package var bus: UInt8
    package var device: UInt8
    package var function: UInt8

    /// Parses `0000:03:00.0`, or `03:00.0` for domain 0; returns nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let last = parts.last else { return nil }
        let slot = last.split(separator: ".", omittingEmptySubsequences: false)
        guard slot.count == 2, slot[1].count == 1, parts[parts.count - 2].count == 2, slot[0].count == 2,
            let bus = UInt8(parts[parts.count - 2], radix: 16), let device = UInt8(slot[0], radix: 16), device < 32,
            let function = UInt8(slot[1], radix: 16), function < 8
        else { return nil }
        var domain: UInt32 = 0
        if parts.count == 3 {
            guard (4...8).contains(parts[0].count), let number = UInt32(parts[0], radix: 16) else { return nil }
            domain = number
        }
        self.domain = domain
        self.bus = bus
        self.device = device
        self.function = function
    }

    package var description: String {
        func hex(_ value: some BinaryInteger, _ digits: Int) -> String {
            let text = String(value, radix: 16)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        return "\(hex(domain, 4)):\(hex(bus, 2)):\(hex(device, 2)).\(function)"
    }
}
