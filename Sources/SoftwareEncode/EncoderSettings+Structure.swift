import Glibc
import VideoBase

extension EncoderSettings {
    /// The preset, 1 to 7.
    var preset: Int { configuration.coding.preset ?? (configuration.pipeline.realTime == true ? Self.presetNames.count : 4) }

    /// Maps the preset, the GOP and the B pictures.
    mutating func mapStructure() {
        let c = configuration
        options.append(("preset", Self.presetNames[preset - 1]))
        report("preset", asked: c.coding.preset, used: "\(preset)", why: "\(encoderName) \(Self.presetNames[preset - 1])")
        if let realTime = c.pipeline.realTime {
            let why: SettingReason =
                !realTime
                ? "the preset is not changed"
                : c.coding.preset == nil ? "the fastest preset" : "only a hint: the requested preset is used"
            report("realTime", asked: realTime ? "on" : "off", used: realTime ? "on" : "off", why: why)
        }
        options.append(("forced-idr", "1"))
        if c.pipeline.lowLatency {
            options.append(("tune", "zerolatency"))
            switch library {
            case .x264: break
            // With this tune alone, libx265 uses two frame threads if a picture has too few rows and columns to share.
            // The first picture then waits for the second (libx265 199, 96x160).
            case .x265: set("frame-threads", 1)
            }
            report("lowLatency", asked: "on", used: "on", why: "tune zerolatency: no reordering, no look-ahead")
        }
        let gop = mapGOP()
        mapBFrames(gop: gop)
        if isAllIntra { mapAllIntra() }
        if let depth = c.pipeline.asyncDepth {
            report(
                "asyncDepth", asked: depth, used: "\(queueDepth)",
                why: c.pipeline.lowLatency ? "low latency waits for each frame" : .requested)
        }
        if c.lowPower == true {
            report("entryPoint", asked: "EncSliceLP", used: "software", why: "software encoders have one entry point")
        }
    }

    private mutating func mapGOP() -> Int {
        let c = configuration
        let seconds = c.structure.gopDuration.map { max(1, Int(($0.seconds * c.frameRate.value).rounded())) }
        var gop = c.structure.gopFrames ?? seconds ?? max(1, Int((5 * c.frameRate.value).rounded()))
        var why: SettingReason = c.structure.gopFrames != nil ? .requested : c.structure.gopDuration.map { "\($0.seconds) s" } ?? "5 s"
        if let seconds, seconds < gop { (gop, why) = (seconds, "`gopDuration` is shorter") }
        switch library {
        case .x264: isAllIntra = false
        case .x265: isAllIntra = gop == 1
        }
        set("keyint", isAllIntra ? 2 : gop)
        set("min-keyint", 1)
        // The positions of key frames depend only on the GOP, as in hardware.
        set("scenecut", 0)
        report("gop", asked: c.structure.gopFrames, used: "\(gop)", why: why)
        if let asked = c.structure.gopDuration?.seconds {
            // In seconds, with three decimals.
            let length = (Double(gop) / c.frameRate.value * 1000).rounded() / 1000
            let isUsed = abs(length - asked) <= 0.5 / c.frameRate.value + 0.001
            if let seconds, gop < seconds {
                // Both are limits: the longer one has no effect, and the request is met.
                report("gopSeconds", asked: nil as String?, used: "\(length)", why: "`gopFrames` is shorter than \(asked) s")
            } else {
                report(
                    "gopSeconds", asked: isUsed ? asked : nil, used: "\(isUsed ? asked : length)",
                    why: isUsed ? .requested : "one frame is the shortest distance")
            }
        }
        var open = c.structure.openGOP
        if c.structure.openGOP {
            let reason: SettingReason? =
                c.structure.intraRefresh
                ? "intra refresh has no key frames"
                : gop == 1 ? "every picture is a key frame" : c.structure.bFrames == 0 || c.pipeline.lowLatency ? "there are no B frames" : nil
            if reason != nil { open = false }
            let note: SettingReason =
                switch library {
                case .x264: .requested
                case .x265: "as asked; with an open GOP, libx265 codes forced key frames as CRA pictures"
                }
            report("openGOP", asked: "on", used: open ? "on" : "off", why: reason ?? note)
        }
        set("open-gop", open ? 1 : 0)
        if c.structure.intraRefresh {
            if gop > 1 {
                set("intra-refresh", 1)
                switch library {
                case .x264: break
                // The library then marks the pictures at which a pass begins.
                case .x265: set("repeat-headers", 1)
                }
            }
            report(
                "intraRefresh", asked: "on", used: gop > 1 ? "on" : "off",
                why: gop > 1 ? "as asked: a column moves through the picture" : "every picture is intra")
        }
        if let interval = c.structure.idrInterval, interval != 1 {
            if c.structure.intraRefresh, gop > 1 {
                report("idrInterval", asked: interval, used: "none", why: "intra refresh has no key frames")
            } else if open {
                report(
                    "idrInterval", asked: interval, used: "none",
                    why: "\(encoderName) makes only the first key frame of an open GOP an IDR picture")
            } else {
                report(
                    "idrInterval", asked: interval, used: "1",
                    why: "\(encoderName) makes every key frame of a closed GOP an IDR picture")
            }
        }
        return gop
    }

    /// Maps streams in which each picture is a key frame. With a GOP of one picture, libx265 writes the profile Main
    /// Intra of the range extensions, which few decoders support, and writes parameter sets with a long message into
    /// each picture. Therefore it is configured for a GOP of two pictures, each picture is forced to be a key frame,
    /// and the tools that intra pictures do not need are disabled.
    private mutating func mapAllIntra() {
        for name in ["b-adapt", "rc-lookahead", "cutree", "weightp"] { set(name, 0) }
        set("ref", 1)
    }

    private mutating func mapBFrames(gop: Int) {
        let c = configuration
        var count = c.structure.bFrames ?? 2
        var why = Self.why(c.structure.bFrames)
        if count > 0, c.pipeline.lowLatency { (count, why) = (0, "low latency does not reorder") }
        if count > 0, c.profile?.allowsBPictures == false { (count, why) = (0, "the profile has no B frames") }
        if count > 0, gop == 1 { (count, why) = (0, "every picture is a key frame") }
        // A closed GOP ends with a P picture.
        let most = max(gop - (c.structure.openGOP && !c.structure.intraRefresh ? 1 : 2), 0)
        if count > most, c.structure.bFrames != nil { (count, why) = (most, "limited by `gopFrames`") }
        if count > 0, c.structure.intraRefresh, c.structure.bFrames == nil {
            (count, why) = (0, "B frames are off by default with intra refresh")
        }
        if let delay = c.pipeline.maxFrameDelay, c.pipeline.lowLatency {
            // Each picture is waited for, so looking ahead would never end.
            report("maxFrameDelay", asked: delay, used: "0", why: delay == 0 ? .requested : "low latency delays no frame")
        } else if let delay = c.pipeline.maxFrameDelay {
            let most: Int
            switch library {
            case .x264:
                // If times may vary, one picture waits for the time of the next.
                most = max(delay - 1, 0)
                if delay == 0 { set("force-cfr", 1) }
                set("rc-lookahead", most)
                set("sync-lookahead", 0)
                // Threads must share a picture instead of each holding one.
                set("sliced-threads", 1)
                if preset < 4 { set("b-adapt", 1) }
            case .x265:
                // libx265 holds back three pictures, the B pictures, and the pictures of its look-ahead, which must be
                // more than the B pictures.
                most = max((delay - 4) / 2, 0)
                set("rc-lookahead", delay < 4 ? 0 : delay - 3 - min(count, most))
                set("frame-threads", 1)
            }
            if count > most { (count, why) = (most, "limited by `maxFrameDelay`") }
            if delay <= 1 { set(library.treeSetting, 0) }
            report("maxFrameDelay", asked: delay, used: "\(delay)", why: .requested)
        } else if c.isLive, !c.pipeline.lowLatency {
            mapLive(bFrames: count)
        } else {
            switch library {
            case .x264: break
            // libx265's look-ahead must be longer than a run of B pictures.
            case .x265: if count >= lookahead { set("rc-lookahead", count + 1) }
            }
        }
        set("bframes", count)
        // Use exactly the requested number, as in hardware. By default, the library may choose fewer, depending on the
        // content.
        if c.structure.bFrames != nil { set("b-adapt", 0) }
        report("bFrames", asked: c.structure.bFrames, used: "\(count)", why: why)
        var pyramid = c.structure.bPyramid ?? true
        why = Self.why(c.structure.bPyramid)
        if count < 2 { (pyramid, why) = (false, "a pyramid needs two B frames") }
        reorderDepth = count == 0 ? 0 : pyramid ? 2 : 1
        switch library {
        case .x264: set("b-pyramid", pyramid ? "normal" : "none")
        case .x265: set("b-pyramid", pyramid ? 1 : 0)
        }
        report("bPyramid", asked: c.structure.bPyramid.map { $0 ? "on" : "off" }, used: pyramid ? "on" : "off", why: why)
    }

    /// The pictures that the presets look ahead.
    var lookahead: Int { library.lookaheads[preset - 1] }

    /// Limits the delay to about 0.3 s instead of a second or more, with a shorter look-ahead and fewer pictures in
    /// threads.
    private mutating func mapLive(bFrames: Int) {
        let pictures = Int(0.3 * configuration.frameRate.value)
        let processors = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
        let most = lookahead
        switch library {
        case .x264:
            let threads = min(processors * 3 / 2, max(4, pictures / 3))
            set("threads", threads)
            set("rc-lookahead", min(most, max(bFrames, pictures - threads)))
            // The slow presets compare runs of twelve pictures and more.
            if preset < 4 { set("b-adapt", 1) }
            // A separate thread looks ahead, one picture before the others.
            set("sync-lookahead", 1)
        case .x265:
            if processors >= 8 { set("frame-threads", 3) }
            set("rc-lookahead", max(bFrames + 1, min(most, pictures - 3)))
        }
    }

    /// Maps references, temporal layers and the maximum slice size.
    mutating func mapReferences() {
        let c = configuration
        if let references = c.structure.references {
            let taken =
                switch library {
                case .x264: references
                // libx265 counts the pictures that wait to be shown among the eight that a picture may have (H.265
                // 7.4.7.2).
                case .x265: min(references, library.maxReferences - reorderDepth)
                }
            // libx264 only warns of references that the level does not hold, and libx265 takes fewer.
            let held = takesLevel ? usedLevelNumber.flatMap { SoftwareLevel.references($0, self) } : nil
            let used = min(taken, max(held ?? taken, 1))
            set("ref", used)
            let level = usedLevelNumber.map(SoftwareLevel.name) ?? ""
            report(
                "references", asked: references, used: "\(used)",
                why: used < taken
                    ? "limit of level \(level)"
                    : used == references ? .requested : "libx265 allows eight, including reordered pictures")
        }
        if let layers = c.structure.temporalLayers, layers != 1 { lacks("temporalLayers", layers, used: "1") }
        if let kept = c.structure.longTermReferences, kept > 0 { lacks("longTermReferences", kept, used: "0") }
        if let bytes = c.rate.maxSliceBytes {
            if library.limitsSliceBytes {
                set("slice-max-size", bytes)
                report("maxSliceBytes", asked: bytes, used: "\(bytes)", why: .requested)
            } else {
                lacks("maxSliceBytes", bytes, used: "none")
            }
        }
        if c.headers.accessUnitDelimiters {
            set("aud", 1)
            report("accessUnitDelimiters", asked: "on", used: "on", why: .requested)
        }
    }
}
