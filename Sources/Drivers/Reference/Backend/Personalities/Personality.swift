internal import CVA

/// How drivers differ in what no attribute says.
struct DriverBehavior: Sendable {
    /// Packed headers of a kind that the config does not name are ignored; otherwise they are refused.
    var ignoresUnnamedHeaders = false
    /// Every slice needs a packed header.
    var needsSliceHeaders = false
    /// The driver reads and rewrites the client's picture parameter sets and slice headers, with pic_init_qp 26.
    var rewritesHeaders = false
    /// A coded picture is a chain: each header's NAL unit a segment with its own flag, then the slices.
    var chainsHeaders = false
    /// Segments' statuses say nothing.
    var hasNoStatus = false
    /// What a quality level means, 1…7, or the attribute's own levels where nil.
    var quality: (@Sendable (_ level: Int) -> Int)?
    /// Of a surface of 10 bits a copy is mapped that is not put back.
    var losesDerivedP010 = false
    /// The encoder counts only these structures of slices, and refuses others.
    var keepsSliceStructure = false
    var hevc = HEVCBehavior()
}

/// VAENC_REFERENCE_PERSONALITY: the reference driver restricted to what a real driver said that it can do.
enum Personality {
    /// Names, in order.
    static var names: [String] { lines(PersonalityTable.personalities).map { String($0.prefix { $0 != "|" }) } }

    /// The capabilities of the driver called `name`; nil where there is none.
    static func named(_ name: String) -> Capabilities? {
        let sets = lines(PersonalityTable.attributes)
        for line in lines(PersonalityTable.personalities) {
            let parts = line.split(separator: "|")
            guard parts.count == 4, parts[0] == name else { continue }
            var capabilities = Capabilities.unrestricted
            capabilities.vendor = "\(parts[1]), as vaenc's reference driver plays it: \(name)"
            // Of what the real driver makes surfaces of, what the reference driver does too.
            capabilities.memoryTypes &= UInt32(parts[2], radix: 16) ?? 0
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
            // Mesa 22.3.6: writes all headers itself.
            behavior.ignoresUnnamedHeaders = true
            behavior.hasNoStatus = true
            // The copy is of the luma plane, and the chroma plane is behind its end.
            behavior.losesDerivedP010 = name.hasSuffix("navi10")
            behavior.keepsSliceStructure = true
            behavior.quality = presets
            behavior.hevc.ignoresUnnamed = true
            behavior.hevc.hasOwnBlocks = true
            behavior.hevc.writesOwnSets = true
            behavior.hevc.hasOwnOffsets = !name.hasSuffix("raven")
            behavior.hevc.alignment = (64, 16)
            behavior.hevc.evensSlices = true
        } else if name.hasPrefix("radeonsi25-") {
            // Mesa 25.0.7: streams without packed slice headers came out broken.
            behavior.needsSliceHeaders = true
            behavior.rewritesHeaders = true
            behavior.chainsHeaders = true
            behavior.quality = presets
            behavior.hevc.ignoresUnnamed = true
            behavior.hevc.hasOwnBlocks = true
            behavior.hevc.rewritesHeaders = true
            behavior.hevc.alignment = (64, 16)
            behavior.hevc.evensSlices = true
        } else if name.hasPrefix("iHD") {
            behavior.hevc.needsUniformOffsets = true
            behavior.hevc.honoursUnnamed = [.strongIntraSmoothing, .constrainedIntra, .deblockingDisable]
        }
        return behavior
    }

    /// AMD's quality level: a valid bit, then speed, balanced, quality or high quality. The valid bit alone, a 1, is
    /// read as balanced.
    private static let presets: @Sendable (Int) -> Int = { level in
        level == 1 ? 4 : [7, 4, 2, 1][level >> 1 & 3]
    }
}
