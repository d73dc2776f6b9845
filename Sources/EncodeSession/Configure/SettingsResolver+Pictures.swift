import VideoBase

/// Chooses the settings of each picture other than the QP.
extension SettingsResolver {
    mutating func chooseDeblocking(_ limits: EncodeCapabilities) -> Deblocking {
        func name(_ filter: Deblocking) -> String {
            guard filter.isOn else { return "off" }
            return filter.alphaOffset == 0 && filter.betaOffset == 0
                ? "on" : "\(filter.alphaOffset):\(filter.betaOffset)"
        }
        guard let wanted = asked.coding.deblocking else {
            report.add("deblocking", asked: nil, used: "on", why: .standard)
            return Deblocking()
        }
        let isStuck = !limits.coding.deblockingDisable && !wanted.isOn
        let used = limits.takesSliceHeaders && !isStuck ? wanted : Deblocking()
        report.add(
            "deblocking", asked: name(wanted), used: name(used),
            why: used == wanted
                ? .requested : isStuck ? "the driver cannot switch it off" : "the driver writes slice headers itself")
        return used
    }

    mutating func chooseTrellis(_ limits: EncodeCapabilities) -> Bool? {
        guard let wanted = asked.coding.trellis else { return nil }
        guard limits.trellis else {
            report.add(
                "trellis", asked: wanted ? "on" : "off", used: wanted ? "driver's" : "off",
                why: "the driver does not support trellis")
            return nil
        }
        report.add("trellis", asked: wanted ? "on" : "off", used: wanted ? "on" : "off", why: .requested)
        return wanted
    }

    /// Chooses the regions of interest. If there are more than the device supports, the first ones are used.
    mutating func chooseRegions(_ limits: EncodeCapabilities) -> [RegionOfInterest] {
        let wanted = asked.coding.regionsOfInterest
        if wanted.isEmpty { return [] }
        let used = Array(wanted.prefix(limits.maxRegions))
        report.add(
            "regionsOfInterest", asked: wanted.count, used: used.count,
            why: used.count == wanted.count
                ? .requested : used.isEmpty ? "the device does not support regions of interest" : "driver limit")
        for entry in used.clipped(to: asked.size) { report.add(entry) }
        return used
    }

    mutating func chooseHeaders() -> (delimiters: Bool, identifier: Bool) {
        report.add(
            "accessUnitDelimiters", asked: asked.headers.accessUnitDelimiters ? "on" : nil,
            used: asked.headers.accessUnitDelimiters ? "on" : "off",
            why: asked.headers.accessUnitDelimiters ? .requested : .standard)
        let identifier = asked.headers.identifier ?? true
        report.add(
            "identifier", asked: asked.headers.identifier.map { $0 ? "on" : "off" }, used: identifier ? "on" : "off",
            why: asked.headers.identifier == nil ? .standard : .requested)
        return (asked.headers.accessUnitDelimiters, identifier)
    }

    mutating func chooseDelays() -> (asyncDepth: Int, maxFrameDelay: Int?) {
        let asyncDepth = asked.pipeline.lowLatency ? 1 : asked.pipeline.asyncDepth ?? 2
        report.add(
            "asyncDepth", asked: asked.pipeline.asyncDepth, used: asyncDepth,
            why: asked.pipeline.lowLatency ? "low latency" : asked.pipeline.asyncDepth == nil ? .standard : .requested)
        if asked.pipeline.lowLatency { report.add("lowLatency", asked: "on", used: "on", why: .requested) }
        let delay = asked.pipeline.lowLatency ? 0 : asked.pipeline.maxFrameDelay
        if let delay {
            report.add(
                "maxFrameDelay", asked: asked.pipeline.maxFrameDelay, used: delay,
                why: delay == asked.pipeline.maxFrameDelay ? .requested : "low latency")
        }
        return (asyncDepth, delay)
    }
}
