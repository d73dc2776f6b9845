import VideoBase

extension EncoderSettings {
    /// The requested profile, else the codec's best one for the samples.
    private var wantedProfile: CodecProfile { configuration.profile ?? configuration.preferredProfiles[0] }

    mutating func mapProfile() {
        let c = configuration
        switch library {
        case .x264:
            let profile = wantedProfile
            let name =
                switch profile {
                case .h264ConstrainedBaseline: "baseline"
                case .h264Main: "main"
                case .h264High, .hevcMain, .hevcMain10: "high"
                }
            options.append(("profile", name))
            var entropy = c.coding.entropy ?? .cabac
            var why = Self.why(c.coding.entropy)
            if !profile.entropyCoders.contains(entropy) {
                (entropy, why) = (.cavlc, "the profile supports CAVLC only")
            }
            set("cabac", entropy == .cabac ? 1 : 0)
            report("entropy", asked: c.coding.entropy?.rawValue, used: entropy.rawValue, why: why)
            if let level = usedLevel { set("level", level) }
        case .x265:
            options.append(("profile", c.codedBitDepth > 8 ? "main10" : "main"))
            if let entropy = c.coding.entropy { report("entropy", asked: entropy.rawValue, used: "cabac", why: "HEVC has CABAC only") }
            if let level = usedLevel, takesLevel { set("level-idc", level) }
            // If high-tier is set, the library uses the High tier if a rate or buffer needs it. Without a rate, it
            // would use the High tier just because of the level.
            let mayBeHigh = c.tier.map { $0 == .high } ?? (c.rate.bitrate != nil || c.rate.maxBitrate != nil)
            set("high-tier", mayBeHigh ? 1 : 0)
            // libx265 prints to stderr by default.
            set("log-level", "none")
            // libx265's cutree writes whole vectors past the end of its arrays, which corrupts the heap if they are
            // short. With 48x32, two of three runs abort (libx265 199, seen with valgrind).
            if codedSize.width < 64 || codedSize.height < 64 { set("cutree", 0) }
        }
    }

    /// The requested level, raised if the pictures need a higher one.
    var usedLevelNumber: Int? {
        (configuration.level?.tenths).map { SoftwareLevel.fitting($0, self) ?? $0 }
    }

    /// The number of frames that libx264 makes a decoder store, whatever `references` is (its sps->i_num_ref_frames).
    var storedFrames: Int { reorderDepth == 0 ? 1 : reorderDepth == 1 ? 2 : 4 }

    /// The profile whose limits of rate and buffer apply; nil for HEVC. libx264 writes High only if it uses the 8×8
    /// transform, and else Main or Baseline, which have lower limits. Its fastest preset uses the transform only on
    /// request.
    var profileOfLimits: CodecProfile? {
        let c = configuration
        switch library {
        case .x264: break
        case .x265: return nil
        }
        if let profile = c.profile, !profile.hasHighElements { return profile }
        return c.coding.transform8x8 ?? (preset < Self.presetNames.count) ? .h264High : .h264Main
    }

    /// Whether the library takes a level. libx265 does not open with both a level and a constant QP, because no rate is
    /// guaranteed then (its enforceLevel).
    var takesLevel: Bool {
        switch library {
        case .x264: true
        case .x265: mode != .cqp
        }
    }

    private var usedLevel: String? { usedLevelNumber.map(SoftwareLevel.name) }

    /// Reports the bit depth and the pixel format if pictures are coded in another depth than they are passed in.
    mutating func mapDepth() {
        let c = configuration
        if let asked = c.bitDepth { report("bitDepth", asked: asked, used: "\(c.codedBitDepth)", why: .requested) }
        let entry = EffectiveEntry.pixelFormat(
            c.inputFormat.rawValue, depth: c.inputFormat.bitDepth, used: bufferFormat, codec: codec)
        if let entry { effective.append(entry) }
    }

    /// Maps the transform, filter, quantization and regions.
    mutating func mapPicture() {
        let c = configuration
        if let display = c.display.masteringDisplay { report("masteringDisplay", asked: display, used: "\(display)", why: .requested) }
        if let light = c.display.contentLight { report("contentLight", asked: light, used: "\(light)", why: .requested) }
        if let wanted = c.coding.transform8x8 {
            let (used, why): (Bool, SettingReason)
            switch library {
            case .x264:
                (used, why) = (wanted && wantedProfile.hasHighElements, "only the High profile supports it")
                set("8x8dct", used ? 1 : 0)
            case .x265: (used, why) = (true, "HEVC always uses it")
            }
            report("transform8x8", asked: wanted ? "on" : "off", used: used ? "on" : "off", why: used == wanted ? .requested : why)
        }
        if let filter = c.coding.deblocking {
            let text = filter.isOn ? "\(filter.alphaOffset):\(filter.betaOffset)" : "off"
            if filter.isOn { set("deblock", "\(filter.alphaOffset),\(filter.betaOffset)") } else { set("no-deblock", 1) }
            report("deblocking", asked: text, used: text, why: .requested)
        } else if library == .x264, preset == Self.presetNames.count {
            report("deblocking", asked: String?.none, used: "off", why: "libx264 \(Self.presetNames[preset - 1]) does not filter")
        }
        if let wanted = c.coding.trellis {
            switch library {
            case .x264: set("trellis", wanted ? 2 : 0)
            case .x265: set("rdoq-level", wanted ? 2 : 0)
            }
            report("trellis", asked: wanted ? "on" : "off", used: wanted ? "on" : "off", why: .requested)
        }
        if let wanted = c.rate.macroblockRateControl {
            let used = wanted && mode != .cqp
            set("aq-mode", used ? 1 : 0)
            report(
                "macroblockRateControl", asked: wanted ? "on" : "off", used: used ? "on" : "off",
                why: used == wanted ? "the library's adaptive quantization" : "the QP is constant")
        }
        if !c.coding.regionsOfInterest.isEmpty {
            report(
                "regionsOfInterest", asked: c.coding.regionsOfInterest.count, used: takesRegions ? "\(c.coding.regionsOfInterest.count)" : "0",
                why: takesRegions
                    ? .requested
                    : "the library needs adaptive quantization for them, which constant QP and the fastest preset lack")
            if takesRegions { effective += c.coding.regionsOfInterest.clipped(to: c.size) }
        }
        if c.rate.maxFrameBytes != nil { lacks("maxFrameBytes", c.rate.maxFrameBytes, used: "none") }
        if let wanted = c.headers.identifier {
            report(
                "identifier", asked: wanted ? "on" : "off", used: "on",
                why: "\(encoderName) always writes its name into the stream")
        }
    }

    /// Whether regions are supported. The libraries implement regions as offsets of adaptive quantization, which the
    /// fastest preset uses only on request.
    var takesRegions: Bool { mode != .cqp && (configuration.rate.macroblockRateControl ?? (preset < Self.presetNames.count)) }
}
