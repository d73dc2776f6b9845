public import VideoBase

/// What `vaenc probe` says of one device.
public struct DeviceReport: Sendable, Hashable {
    public var kind: DeviceKind
    /// The render node; nil where there is none.
    public var path: String?
    /// `0000:03:00.0`; nil where the system does not tell.
    public var pci: String?
    /// What the driver calls itself; nil where none started.
    public var driver: String?
    /// The VA-API version: `1.17`; nil without VA-API.
    public var libva: String?
    /// Encodes H.264 or HEVC.
    public var usable: Bool
    /// Why not, or nil.
    public var why: String?
    public var capabilities: [Capability]

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

    /// A device that did not start.
    public init(kind: DeviceKind, path: String?, failure: any Error) {
        self.init(
            kind: kind, path: path, usable: false, why: (failure as? any DescribedError)?.description ?? "\(failure)")
    }

    /// Asks a device everything. What it refuses to tell is left out.
    package init(_ display: Display) {
        var capabilities: [Capability] = []
        var why: String?
        do {
            capabilities = try display.watch.run("asking for capabilities", display.vendor, .setUp) {
                try display.capabilities()
            }
            if !capabilities.contains(where: { $0.encodes && ["h264", "hevc"].contains($0.codec) }) {
                why = Self.encoderless(display)
            }
        } catch {
            why = (error as? any DescribedError)?.description ?? "\(error)"
        }
        self.init(
            kind: display.kind, path: display.path, pci: display.pciAddress, driver: display.vendor,
            libva: display.version, usable: why == nil, why: why, capabilities: capabilities)
    }

    private static func encoderless(_ display: Display) -> String {
        display.vendor.contains("Intel iHD")
            ? "the driver encodes neither H.264 nor HEVC: install intel-media-va-driver-non-free"
            : "the driver encodes neither H.264 nor HEVC"
    }

    /// Whether the device encodes the codec, with the profile and entry point (`EncSlice`, `EncSliceLP`) where given.
    public func isHardwareEncodeSupported(
        _ codec: VideoCodec, profile: CodecProfile? = nil, entryPoint: String? = nil
    ) -> Bool {
        kind == .vaapi && supports(codec, profile, entryPoint) { $0.encodes }
    }

    /// Whether the device decodes the codec, with the profile where given.
    public func isHardwareDecodeSupported(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        kind == .vaapi && supports(codec, profile, nil) { $0.decodes }
    }

    private func supports(
        _ codec: VideoCodec, _ profile: CodecProfile?, _ entryPoint: String?, _ does: (Capability) -> Bool
    ) -> Bool {
        capabilities.contains { capability in
            does(capability) && capability.codec == codec.rawValue
                && (profile.map { $0.codec == codec && $0.shortName == capability.profile } ?? true)
                && (entryPoint.map { $0 == capability.entrypoint } ?? true)
        }
    }
}

extension Display {
    /// Every profile at every entry point, in the driver's order.
    package func capabilities() throws(VAError) -> [Capability] {
        var result: [Capability] = []
        for profile in try profiles() {
            for entryPoint in try entryPoints(of: profile) {
                let attributes: ConfigAttributes
                do {
                    attributes = try self.attributes(of: profile, at: entryPoint)
                } catch {
                    // Some drivers list pairs that they then refuse to tell about.
                    attributes = ConfigAttributes(values: [:])
                }
                var surface: SurfaceCapabilities?
                if entryPoint.encodes || entryPoint == .decode {
                    surface = try? Config(self, profile: profile, entryPoint: entryPoint).surfaceCapabilities()
                }
                result.append(Capability(profile, entryPoint, attributes, surface))
            }
        }
        return result
    }
}
