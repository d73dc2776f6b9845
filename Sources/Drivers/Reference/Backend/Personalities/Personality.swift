internal import CVA

/// The differences between drivers that no attribute reports.
struct DriverBehavior: Sendable {
    /// Whether packed headers of a type that the config does not include are ignored. Otherwise they are accepted with
    /// a warning, or rejected with VAENC_REFERENCE_STRICT=1.
    var ignoresUnnamedHeaders = false
    /// Whether every slice needs a packed header.
    var needsSliceHeaders = false
    /// Whether the driver reads the client's picture parameter sets and slice headers, and rewrites them with a
    /// pic_init_qp of 26.
    var rewritesHeaders = false
    /// Whether a coded buffer has several segments: one per header NAL unit, with VA_CODED_BUF_STATUS_SINGLE_NALU, and
    /// one for the slices.
    var chainsHeaders = false
    /// Whether the status of segments is always 0.
    var hasNoStatus = false
    /// Returns the encoder's quality, 1…7, for a quality level. If it is nil, the quality is the level itself.
    var quality: (@Sendable (_ level: Int) -> Int)?
    /// Whether a derived P010 image has memory of its own, so that writes to it are lost.
    var losesDerivedP010 = false
    /// Whether slice structures that VAConfigAttribEncSliceStructure does not report are rejected.
    var enforcesSliceStructure = false
    var hevc = HEVCBehavior()
}

/// VAENC_REFERENCE_PERSONALITY: restricts the reference driver to the capabilities that a real driver reported.
enum Personality {
    /// The names of all personalities, in the order of the table.
    static var names: [String] { lines(PersonalityTable.personalities).map { String($0.prefix { $0 != "|" }) } }

    /// Returns the capabilities of the personality `name`; nil if it does not exist.
    static func named(_ name: String) -> Capabilities? {
        let sets = lines(PersonalityTable.attributes)
        for line in lines(PersonalityTable.personalities) {
            let parts = line.split(separator: "|")
            guard parts.count == 4, parts[0] == name else { continue }
            var capabilities = Capabilities.unrestricted
            capabilities.vendor = "\(parts[1]), imitated by vaenc's reference driver: \(name)"
            // The personality has only memory types that both the real driver and the reference driver support.
            capabilities.memoryTypes = Capabilities.personalityMemoryTypes & (UInt32(parts[2], radix: 16) ?? 0)
            capabilities.entries = parts[3].split(separator: " ").compactMap { entry($0, sets) }
            capabilities.behavior = behavior(of: name)
            return capabilities
        }
        return nil
    }

    private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

    private static func entry(_ word: Substring, _ sets: [Substring]) -> Capabilities.Entry? {
        let numbers = word.split(separator: ",").compactMap { Int($0) }
        guard numbers.count >= 7, sets.indices.contains(numbers[2]) else { return nil }
        let attributes = sets[numbers[2]].split(separator: " ").compactMap { pair in
            let sides = pair.split(separator: "=")
            guard sides.count == 2, let type = UInt32(sides[0]), let value = UInt32(sides[1], radix: 16) else {
                return nil as (type: VAConfigAttribType, value: UInt32)?
            }
            return (VAConfigAttribType(type), value)
        }
        return Capabilities.Entry(
            profile: VAProfile(Int32(numbers[0])), entrypoint: VAEntrypoint(UInt32(numbers[1])),
            attributes: attributes, minimumWidth: numbers[3], minimumHeight: numbers[4], maximumWidth: numbers[5],
            maximumHeight: numbers[6], surfaceAlignment: numbers.count > 7 ? numbers[7] : nil)
    }

    private static func behavior(of name: String) -> DriverBehavior {
        var behavior = DriverBehavior()
        if name.hasPrefix("radeonsi-") {
            // Mesa 22.3.6 writes all headers itself.
            behavior.ignoresUnnamedHeaders = true
            behavior.hasNoStatus = true
            // In Mesa, the mapped copy contains only the luma plane. The chroma plane would be past its end.
            behavior.losesDerivedP010 = name.hasSuffix("navi10")
            behavior.enforcesSliceStructure = true
            behavior.quality = presets
            behavior.hevc.ignoresUnreported = true
            behavior.hevc.hasOwnBlocks = true
            behavior.hevc.writesOwnSets = true
            behavior.hevc.ownSetsUseSAO = !name.hasSuffix("raven")
            behavior.hevc.alignment = (64, 16)
            behavior.hevc.equalizesSlices = true
        } else if name.hasPrefix("radeonsi25-") {
            // Mesa 25.0.7 writes broken streams without packed slice headers.
            behavior.needsSliceHeaders = true
            behavior.rewritesHeaders = true
            behavior.chainsHeaders = true
            behavior.quality = presets
            behavior.hevc.ignoresUnreported = true
            behavior.hevc.hasOwnBlocks = true
            behavior.hevc.rewritesHeaders = true
            behavior.hevc.alignment = (64, 16)
            behavior.hevc.equalizesSlices = true
        } else if name.hasPrefix("iHD") {
            behavior.hevc.needsUniformOffsets = true
            behavior.hevc.honorsUnreported = [.strongIntraSmoothing, .constrainedIntra, .deblockingDisable]
        }
        return behavior
    }

    /// Returns the encoder's quality for AMD's quality level: bit 0 is a valid flag, bits 1 and 2 are speed, balanced,
    /// quality or high quality. Level 1, the valid flag alone, means balanced.
    private static let presets: @Sendable (Int) -> Int = { level in
        level == 1 ? 4 : [7, 4, 2, 1][level >> 1 & 3]
    }
}
