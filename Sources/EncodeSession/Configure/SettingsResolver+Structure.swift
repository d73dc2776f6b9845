import EncodePlanning
import VAAPI
import VideoBase

/// Chooses the group of pictures: the request without options that exclude each other, reduced to what the device and
/// the level allow. The result is reported at the end. Each option gets the first reason that reduced it.
extension SettingsResolver {
    mutating func chooseStructure(
        _ limits: EncodeCapabilities, _ grid: BlockGrid, rate: RateSettings, qp: Int
    ) throws -> (GOPStructure, StreamLevel) {
        let interval = chooseGOP(limits)
        var reasons = Obstacles(limits, asked, intraOnly: interval == 1)
        let wanted = wantedStructure(interval, limits: limits, grid: grid, reasons: &reasons)
        // If no rate is requested, the estimated rate at the QP decides the level.
        func estimate(_ structure: GOPStructure) -> LevelEstimate? {
            if rate.maxBitrate > 0 { return nil }
            return LevelEstimate(
                qp: rate.mode == .icq ? rate.quality : qp, keyInterval: structure.keyInterval ?? .max, grid,
                share: limits.profile.codec.rateShare, frameRate: asked.frameRate)
        }
        let (level, room) = try chooseLevel(limits, grid: grid, structure: wanted, rate: rate, estimate: estimate(wanted))
        if wanted.longTermReferences < asked.structure.longTermReferences ?? 0 {
            reasons.longTerm = reasons.longTerm ?? "limited by `references`"
        }
        let used = wanted.fitted(
            list0: limits.predictedReferences, listB0: limits.coding.maxDifferingReferences0,
            list1: limits.futureReferences, storage: min(limits.maxStored, room))
        reasons.rest =
            room < limits.maxStored && wanted.storage > room ? "limit of level \(level.name)" : "driver limit"
        try reportStructure(used, reasons)
        let foreseen = estimate(used)
        let final = try chooseLevel(limits, grid: grid, structure: used, rate: rate, estimate: foreseen).level
        try reportLevel(final, limits: limits, rate: rate, estimate: foreseen)
        return (used, final)
    }

    /// Returns the number of frames from an intra picture to the next.
    private mutating func chooseGOP(_ limits: EncodeCapabilities) -> Int {
        let rate = asked.frameRate.value
        func fromSeconds(_ seconds: Double) -> Int { max(Int((seconds * rate).rounded()), 1) }
        let used: Int
        let why: SettingReason
        if limits.maxReferences0 == 0 {
            used = 1
            why = "the device supports intra pictures only"
        } else if let frames = asked.structure.gopFrames {
            let limit = asked.structure.gopDuration.map { fromSeconds($0.seconds) } ?? frames
            used = min(frames, limit)
            why = limit < frames ? "`gopDuration` is shorter" : .requested
        } else if let seconds = asked.structure.gopDuration?.seconds {
            used = fromSeconds(seconds)
            why = "\(seconds) s"
        } else {
            used = fromSeconds(5)
            why = "5 s"
        }
        report.add("gop", asked: asked.structure.gopFrames, used: used, why: why)
        if let seconds = asked.structure.gopDuration?.seconds {
            // In seconds, with three decimals.
            let length = (Double(used) / rate * 1000).rounded() / 1000
            if used < fromSeconds(seconds), limits.maxReferences0 > 0 {
                // Both are limits: the longer one has no effect, and the request is met.
                report.add("gopSeconds", asked: nil as String?, used: "\(length)", why: "`gopFrames` is shorter than \(seconds) s")
            } else {
                let isUsed = abs(length - seconds) <= 0.5 / rate + 0.001
                report.add(
                    "gopSeconds", asked: isUsed || limits.maxReferences0 == 0 ? "\(seconds)" : nil, used: "\(isUsed ? seconds : length)",
                    why: isUsed ? .requested : limits.maxReferences0 == 0 ? why : "one frame is the shortest distance")
            }
        }
        return used
    }

    /// Returns the request without the excluded options. The lengths of lists and buffers are not applied yet.
    private func wantedStructure(
        _ interval: Int, limits: EncodeCapabilities, grid: BlockGrid, reasons: inout Obstacles
    ) -> GOPStructure {
        var structure = GOPStructure(keyInterval: interval, references: 1)
        // The first picture of layer 1 follows half a period after the key frame and must be in the group.
        let maxLayers = interval < 2 ? 1 : 2 + (Int.bitWidth - 1 - (interval - 1).leadingZeroBitCount)
        structure.temporalLayers = reasons.layers == nil ? min(asked.structure.temporalLayers ?? 1, maxLayers) : 1
        if let layers = asked.structure.temporalLayers, layers > maxLayers {
            reasons.layers = reasons.layers ?? "limited by `gopFrames`"
        }
        structure.longTermReferences = reasons.longTerm == nil ? asked.structure.longTermReferences ?? 0 : 0
        if asked.structure.intraRefresh, reasons.refresh == nil {
            let blocks = limits.intraRefresh.contains(.rollingColumn) ? grid.columns : grid.rows
            structure.intraRefreshSteps = min(interval, blocks)
            reasons.exclude(by: "intra refresh needs P pictures with one reference")
        }
        structure.references = asked.structure.references ?? max(structure.longTermReferences, 1)
        if structure.temporalLayers > 2 { reasons.bFrames = reasons.bFrames ?? "more than two temporal layers" }
        // Long-term references and layers serve live connections. These do not wait for B frames unless requested.
        let isLive = structure.longTermReferences > 0 || structure.temporalLayers > 1
        let delay = asked.pipeline.maxFrameDelay ?? 7
        let most = reasons.bFrames == nil ? min(7, interval - 1, delay) : 0
        structure.bFrames = min(asked.structure.bFrames ?? (isLive ? 0 : Self.standardBFrames), most)
        if most < 7, reasons.bFrames == nil {
            reasons.bFrames = most == delay ? "limited by `maxFrameDelay`" : "limited by `gopFrames`"
        }
        if isLive, asked.structure.bFrames == nil {
            reasons.bFrames =
                reasons.bFrames
                ?? "off by default with \(structure.temporalLayers > 1 ? "temporal layers" : "long-term references"), because B frames add delay"
        }
        if structure.bFrames < 2 { reasons.pyramid = reasons.pyramid ?? "a pyramid needs two B frames" }
        if structure.temporalLayers == 2 { reasons.pyramid = reasons.pyramid ?? "two temporal layers" }
        // With two B frames, a pyramid gains too little to give up the independence of both.
        structure.isPyramid = reasons.pyramid == nil && (asked.structure.bPyramid ?? (structure.bFrames > 2))
        if structure.bFrames == 0 { reasons.open = reasons.open ?? "an open GOP needs B frames" }
        if asked.structure.idrInterval == 1 { reasons.open = reasons.open ?? "every key frame is an IDR picture" }
        structure.isOpen = asked.structure.openGOP && reasons.open == nil
        // An IDR picture closes a group. Open groups begin with I pictures.
        structure.idrInterval = asked.structure.idrInterval ?? (structure.isOpen ? Int(Int32.max) : 1)
        return structure.consistent
    }

    /// The default number of B pictures between two others.
    static let standardBFrames = 2

    private mutating func reportStructure(_ used: GOPStructure, _ reasons: Obstacles) throws {
        func why(_ isAsAsked: Bool, _ reason: String?, wasAsked: Bool) -> SettingReason {
            isAsAsked ? .requested : reason.map { .explained($0) } ?? (wasAsked ? .explained(reasons.rest) : .standard)
        }
        func name(_ isOn: Bool) -> String { isOn ? "on" : "off" }
        let references = asked.structure.references
        report.add(
            "references", asked: references, used: used.references,
            why: why(used.references == references, reasons.references, wasAsked: references != nil))
        let b = asked.structure.bFrames
        report.add("bFrames", asked: b, used: used.bFrames, why: why(used.bFrames == b, reasons.bFrames, wasAsked: b != nil))
        if asked.structure.bPyramid != nil || used.bFrames > 1 {
            report.add(
                "bPyramid", asked: asked.structure.bPyramid.map(name), used: name(used.isPyramid),
                why: why(used.isPyramid == asked.structure.bPyramid, reasons.pyramid, wasAsked: asked.structure.bPyramid != nil))
        }
        // The mode may not use it either, which is reported already.
        let usesQPB = report.entries.contains { $0.option == "qpB" && $0.used != "none" }
        if asked.rate.qpB != nil, used.bFrames == 0, usesQPB {
            let why = reasons.bFrames ?? (b == 0 ? "none are requested" : reasons.rest)
            report.replace("qpB", used: "none", why: "no B pictures: \(why)")
        }
        if asked.structure.openGOP {
            report.add("openGOP", asked: "on", used: name(used.isOpen), why: why(used.isOpen, reasons.open, wasAsked: true))
        }
        if asked.structure.idrInterval != nil || used.isOpen {
            report.add(
                "idrInterval", asked: asked.structure.idrInterval.map(String.init),
                used: asked.structure.idrInterval.map(String.init) ?? "first",
                why: asked.structure.idrInterval == nil ? "open GOPs begin with I pictures" : .requested)
        }
        if let layers = asked.structure.temporalLayers {
            report.add(
                "temporalLayers", asked: layers, used: used.temporalLayers,
                why: why(layers == used.temporalLayers, reasons.layers, wasAsked: true))
        }
        if let longTerm = asked.structure.longTermReferences {
            report.add(
                "longTermReferences", asked: longTerm, used: used.longTermReferences,
                why: why(longTerm == used.longTermReferences, reasons.longTerm, wasAsked: true))
        }
        if asked.structure.intraRefresh {
            let isOn = used.intraRefreshSteps != nil
            report.add("intraRefresh", asked: "on", used: name(isOn), why: why(isOn, reasons.refresh, wasAsked: true))
        }
    }
}

/// The first reason why each option cannot be used as requested; nil: only lengths of lists and buffers limit it.
struct Obstacles {
    var references: String?
    var bFrames: String?
    var pyramid: String?
    var open: String?
    var layers: String?
    var longTerm: String?
    var refresh: String?
    /// The reason for options that the lengths of lists and buffers reduce.
    var rest = "driver limit"

    init(_ limits: EncodeCapabilities, _ asked: EncoderConfiguration, intraOnly: Bool) {
        let isForeign = limits.takesSliceHeaders ? nil : "the driver writes slice headers itself"
        let isIntra = intraOnly ? "every picture is intra" : nil
        bFrames =
            if !limits.profile.allowsBPictures {
                "Constrained Baseline has no B pictures"
            } else if limits.maxReferences0 == 0 {
                "the device supports intra pictures only"
            } else if limits.maxReferences1 == 0 {
                "the device supports one reference list only"
            } else if limits.futureReferences == 0 {
                "the device supports no references that are displayed later"
            } else if let isIntra {
                isIntra
            } else if asked.pipeline.lowLatency {
                "low latency"
            } else if asked.pipeline.maxFrameDelay == 0 {
                "`maxFrameDelay` is 0"
            } else {
                nil
            }
        // The slice header selects the references and controls how long they are stored.
        pyramid = isForeign
        layers = asked.structure.temporalLayers == 1 ? nil : isForeign ?? isIntra
        longTerm = asked.structure.longTermReferences == 0 ? nil : isForeign ?? isIntra
        refresh = limits.intraRefresh.isEmpty ? "the driver does not support intra refresh" : isIntra
    }

    /// Sets the reason for all options that another option excludes.
    mutating func exclude(by reason: String) {
        references = reason
        bFrames = bFrames ?? reason
        layers = layers ?? reason
        longTerm = longTerm ?? reason
        open = open ?? reason
    }
}
