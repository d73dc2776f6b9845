package import VideoBase

extension Display {
    /// The GPU at a PCI address.
    ///
    /// - Throws: `VaencError` of category `.unavailable` where no render node has the address.
    package static func open(pci address: String) throws -> Display {
        guard let node = RenderNode.all().first(where: { $0.pciAddress == address }) else {
            throw VaencError(.unavailable, "there is no GPU at PCI address \(address)", remedy: RenderNode.advice())
        }
        return try open(renderNode: node.path)
    }

    /// Whether the device encodes the codec, with the profile and entry point where given. Cheaper than a report.
    package func encodes(_ codec: VideoCodec, profile: CodecProfile? = nil, entryPoint: EntryPoint? = nil) -> Bool {
        supports(codec, profile) { entryPoint.map($0.contains) ?? $0.contains(where: \.encodes) }
    }

    /// Whether the device decodes the codec, with the profile where given.
    package func decodes(_ codec: VideoCodec, profile: CodecProfile? = nil) -> Bool {
        supports(codec, profile) { $0.contains(.decode) }
    }

    private func supports(_ codec: VideoCodec, _ profile: CodecProfile?, _ does: ([EntryPoint]) -> Bool) -> Bool {
        if let profile, profile.codec != codec { return false }
        let wanted = profile.map { [$0] } ?? CodecProfile.allCases.filter { $0.codec == codec }
        return wanted.contains { does((try? entryPoints(of: Profile($0))) ?? []) }
    }
}
