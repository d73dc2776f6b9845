internal import CDRM
internal import CVA
internal import Glibc
internal import VideoBase

/// A GPU as the kernel shows it: a character device of the DRM subsystem.
package struct RenderNode: Sendable, Hashable {
    /// `/dev/dri/renderD128`
    package var path: String
    /// `0000:03:00.0`; nil where the GPU is not on PCI or the system does not tell.
    package var pciAddress: String?

    /// The render nodes that are present, by number.
    package static func all() -> [RenderNode] {
        guard let folder = unsafe opendir("/dev/dri") else { return [] }
        defer { unsafe closedir(folder) }
        var numbers: [UInt32] = []
        while let entry = unsafe readdir(folder) {
            // SAFETY: d_name is a C string inside the entry, which lasts until the next readdir.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name.hasPrefix("renderD"), let number = UInt32(name.dropFirst("renderD".count)) { numbers.append(number) }
        }
        return numbers.sorted().map {
            RenderNode(path: "/dev/dri/renderD\($0)", pciAddress: pciAddress(ofDevice: 226, $0))
        }
    }

    /// Opens the node for reading and writing, closed on exec.
    ///
    /// - Throws: `VaencError`: `.unavailable` where there is no such node, `.noPermission` where it may not be opened.
    static func open(_ path: String) throws(VaencError) -> CInt {
        var descriptor: CInt
        repeat {
            descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC)
        } while descriptor < 0 && errno == EINTR
        if descriptor < 0 { throw openFailure(path, errno) }
        return descriptor
    }

    /// What to tell a person when a node could not be opened.
    static func openFailure(_ path: String, _ number: Int32) -> VaencError {
        switch number {
        case ENXIO, ENODEV:
            VaencError(.unavailable, "nothing answers at \(path): its kernel driver is not loaded", remedy: "see `dmesg`, or use another device")
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
                remedy: "choose another device, or `DeviceSelector.software`")
        }
    }

    /// Which devices there are instead.
    package static func advice() -> String {
        let nodes = all().map(\.path)
        return nodes.isEmpty
            ? "this machine has no render node; use `DeviceSelector.software` (libx264 and libx265)"
            : "there is \(nodes.joined(separator: ", "))"
    }

    /// The name of the kernel's driver behind an open node (drmGetVersion); nil where it does not tell.
    static func kernelDriver(of descriptor: CInt) -> String? {
        guard let version = unsafe drmGetVersion(descriptor) else { return nil }
        defer { unsafe drmFreeVersion(version) }
        guard let name = unsafe version.pointee.name, unsafe version.pointee.name_len > 0 else { return nil }
        return unsafe String(cString: name)
    }

    /// The PCI address of an open node's device.
    static func pciAddress(of descriptor: CInt) -> String? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return nil }
        // dev_t as glibc lays it out: gnu_dev_major, gnu_dev_minor.
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

/// A PCI device's place: domain, bus, device, function.
package struct PCIAddress: Sendable, Hashable, CustomStringConvertible {
    package var domain: UInt32
    package var bus: UInt8
    package var device: UInt8
    package var function: UInt8

    /// Reads `0000:03:00.0`, and `03:00.0` for domain 0; nil for everything else.
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
