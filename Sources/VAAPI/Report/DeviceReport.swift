public import VideoBase

/// A report on one device, as printed by `vaenc probe`.
public struct DeviceReport: Sendable, Hashable {
    /// The kind of device.
    public var kind: DeviceKind
    /// The path of the render node, or nil if the device has none.
    public var path: String?
    /// The PCI address (`0000:03:00.0`), or nil if the system does not report it.
    public var pci: String?
    /// The driver's name for itself, or nil if no driver started.
    public var driver: String?
    /// The VA-API version (`1.17`), or nil without VA-API.
    public var libva: String?
    /// Whether the device can encode H.264 or HEVC.
    public var usable: Bool
    /// The reason why the device is not usable, or nil if it is usable.
    public var why: String?
    /// The category of the error that made the device unusable; nil if there was none.
    public var failureCategory: ErrorCategory?
    /// Whether it is unusable because memory, threads or file descriptors are exhausted.
    package var lacksResources = false
    /// The capabilities of each profile at each entry point.
    public var capabilities: [Capability]

    /// Creates a report from its values.
    public init(
        kind: DeviceKind, path: String? = nil, pci: String? = nil, driver: String? = nil, libva: String? = nil,
        usable: Bool, why: String? = nil, capabilities: [Capability] = []
    ) {
        self.kind = kind
        self.path = path
        self.pci = pci
        self.driver = driver
        self.libva = libva
        self.usable = usable
        self.why = why
        self.capabilities = capabilities
    }

    /// Creates the report of a device that did not start.
    public init(kind: DeviceKind, path: String?, failure: any Error) {
        self.init(
            kind: kind, path: path, usable: false, why: (failure as? any DescribedError)?.description ?? "\(failure)")
        failureCategory = (failure as? any DescribedError)?.category
        lacksResources = (failure as? VaencError)?.subject == .resources
    }

    /// Queries all capabilities of a device. Items that the driver does not report are omitted.
    package init(_ display: Display) {
        var capabilities: [Capability] = []
        var why: String?
        var failureCategory: ErrorCategory?
        do {
            capabilities = try display.watch.run("querying capabilities", on: display.vendor, scale: .setUp) {
                try display.capabilities()
            }
            if !capabilities.contains(where: { $0.encodes && $0.codec != nil }) {
                why = Self.encoderless(display)
            }
        } catch {
            why = (error as? any DescribedError)?.description ?? "\(error)"
            failureCategory = (error as? any DescribedError)?.category
        }
        self.init(
            kind: display.kind, path: display.path, pci: display.pciAddress, driver: display.vendor,
            libva: display.version, usable: why == nil, why: why, capabilities: capabilities)
        self.failureCategory = failureCategory
    }

    private static func encoderless(_ display: Display) -> String {
        DriverQuirk.freeBuildEncodesNothing.affects(display.vendor)
            ? "the driver encodes neither H.264 nor HEVC: install intel-media-va-driver-non-free"
            : "the driver encodes neither H.264 nor HEVC"
    }

    /// Whether the device encodes the codec in hardware, with this profile and entry point if they are given.
    public func isHardwareEncodeSupported(
        _ codec: VideoCodec, profile: CodecProfile? = nil, entryPoint: EntryPoint? = nil
    ) -> Bool {
        kind == .vaapi && supports(codec, profile: profile, entryPoint: entryPoint) { $0.encodes }
    }

    /// Whether the device decodes the codec in hardware, with this profile if it is given.
    public func isHardwareDecodeSupported(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        kind == .vaapi && supports(codec, profile: profile, entryPoint: nil) { $0.decodes }
    }

    private func supports(
        _ codec: VideoCodec, profile: CodecProfile?, entryPoint: EntryPoint?, does: (Capability) -> Bool
    ) -> Bool {
        capabilities.contains { capability in
            does(capability) && capability.codec == codec
                && profile.map { $0.codec == codec && Profile($0) == capability.profile } ?? true
                && entryPoint.map { $0 == capability.entryPoint } ?? true
        }
    }
}

extension Display {
    /// Returns the capabilities of every profile at every entry point, in the driver's order.
    package func capabilities() throws(VAError) -> [Capability] {
        var result: [Capability] = []
        for profile in try profiles() {
            for entryPoint in try entryPoints(of: profile) {
                let attributes: ConfigAttributes
                do {
                    attributes = try self.attributes(of: profile, at: entryPoint)
                } catch {
                    // Some drivers list a pair, and then fail to report its attributes.
                    attributes = ConfigAttributes(values: [:])
                }
                var surface: SurfaceCapabilities?
                if entryPoint.encodes || entryPoint == .decode {
                    surface = try? Config(self, profile: profile, entryPoint: entryPoint).surfaceCapabilities()
                }
                result.append(Capability(profile, at: entryPoint, attributes: attributes, surfaces: surface))
            }
        }
        return result
    }
}
