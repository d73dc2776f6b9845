package import VideoBase

extension Display {
    /// Opens the GPU at a PCI address.
    ///
    /// - Throws: A `VaencError` of category `.unavailable` if no render node has the address, or an error of
    ///   `open(renderNode:)`.
    package static func open(pci address: String) throws -> Display {
        guard let node = RenderNode.all().first(where: { $0.pciAddress == address }) else {
            throw VaencError(.unavailable, "there is no GPU at PCI address \(address)", remedy: RenderNode.advice())
        }
        return try open(renderNode: node.path)
    }

    /// Whether the device encodes the codec, with this profile and entry point if they are given. Cheaper than a
    /// `DeviceReport`.
    package func encodes(_ codec: VideoCodec, profile: CodecProfile? = nil, entryPoint: EntryPoint? = nil) -> Bool {
        supports(codec, profile: profile) { entryPoint.map($0.contains) ?? $0.contains(where: \.encodes) }
    }

    /// Whether the device decodes the codec, with this profile if it is given.
    package func decodes(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        supports(codec, profile: profile) { $0.contains(.decode) }
    }

    private func supports(_ codec: VideoCodec, profile: CodecProfile?, does: ([EntryPoint]) -> Bool) -> Bool {
        if let profile, profile.codec != codec { return false }
        let wanted = profile.map { [$0] } ?? CodecProfile.allCases.filter { $0.codec == codec }
        return wanted.contains { does((try? entryPoints(of: Profile($0))) ?? []) }
    }
}
