public import VAAPI
public import VideoBase

/// Properties by key, as VTSessionSetProperty and VTSessionCopyProperty have them.
///
/// Before the first frame every property may be set; the encoder is then settled with them when it is prepared, which
/// tells of contradictions. While the session runs, those that `changesWhileRunning` apply from the next frame on, with
/// no key frame. Unlike the configuration, whose wishes a device may meet by the nearest thing, setting a property that
/// the device does not have, or to a value that it does not take, is an error.
extension CompressionSession {
    /// The properties that the session's device has, for its codec and profile.
    public var supportedProperties: [SupportedProperty] {
        get throws {
            let abilities = try abilities()
            return AnyProperty.all.compactMap { $0.supported(abilities) }
                + ReadOnlyProperty.allCases.map {
                    SupportedProperty(name: $0.rawValue, type: $0.type, isReadOnly: true, changesWhileRunning: false)
                }
        }
    }

    /// What was set, or asked for in the configuration; nil where the choice is the encoder's, which
    /// `encoderDescription.effective` tells.
    public func value<Value>(_ property: SessionProperty<Value>) -> Value? { property.read(configuration) }

    /// The same by name, also of the properties that cannot be set.
    ///
    /// - Throws: `usage` for a name that is none.
    public func value(named name: String) throws -> PropertyValue? {
        if let own = ReadOnlyProperty(rawValue: name) { return try own.value(self) }
        return try Self.property(name).read(configuration)
    }

    /// - Parameter value: nil leaves it to the encoder, before the first frame.
    /// - Throws: `unavailable` where the device does not have the property or the value; `usage` for a value that no
    ///   device takes, and where the property cannot change any more.
    public func set<Value>(_ property: SessionProperty<Value>, to value: Value?) throws {
        try set([(AnyProperty(property), value?.propertyValue)])
    }

    /// The same by name.
    public func set(named name: String, to value: PropertyValue?) throws {
        try set([(try Self.property(name), value)])
    }

    /// Several at once, all or none, in no order.
    ///
    /// - Throws: `usage` also where they contradict each other.
    public func set(_ values: [String: PropertyValue]) throws {
        try set(values.sorted { $0.key < $1.key }.map { (try Self.property($0.key), $0.value) })
    }

    /// Everything that was set or asked for, to be stored and set again: VTSessionCopySerializableProperties.
    public var serializableProperties: [String: PropertyValue] {
        let configuration = configuration
        let untouched = EncoderConfiguration(size: configuration.size)
        var result: [String: PropertyValue] = [:]
        for property in AnyProperty.all {
            let value = property.read(configuration)
            if value != property.read(untouched) { result[property.name] = value }
        }
        return result
    }

    private static func property(_ name: String) throws -> AnyProperty {
        if let property = AnyProperty.all.first(where: { $0.name == name }) { return property }
        throw VaencError(
            .usage,
            ReadOnlyProperty(rawValue: name) == nil ? "no property is called \(name)" : "the property \(name) cannot be set",
            remedy: "supportedProperties lists what there is")
    }

    private func set(_ values: [(AnyProperty, PropertyValue?)]) throws {
        if core.isInvalidated { throw SessionCore.invalidated }
        let (configuration, stage, device) = core.state.withLock { ($0.configuration, $0.stage, $0.device) }
        let (_, abilities) = try Self.draft(
            values, of: configuration, chosen: stage.choice.codec, on: stage.abilitiesReport(device))
        let isConfigured = try core.configure { configuration in
            for (property, value) in values { _ = property.write(value, to: &configuration, on: abilities) }
        }
        if !isConfigured { try change(values, abilities) }
    }

    /// The configuration with all the values, on a device that takes them.
    ///
    /// - Parameter chosen: the codec where the configuration leaves the choice to the device.
    /// - Throws: what `set` throws, before anything is set.
    static func draft(
        _ values: [(AnyProperty, PropertyValue?)], of configuration: EncoderConfiguration, chosen: VideoCodec,
        on report: DeviceReport?
    ) throws -> (EncoderConfiguration, DeviceAbilities) {
        var plain = configuration
        for (property, value) in values {
            guard value?.isFinite != false, property.write(&plain, value) else {
                throw VaencError(.usage, "\(property.name) is not of this type", remedy: "give \(property.type)")
            }
        }
        // Some properties decide what others take: the order in which they are given does not.
        let abilities = try Self.abilities(report, plain, chosen: chosen)
        var draft = configuration
        for (property, value) in values { _ = property.write(value, to: &draft, on: abilities) }
        for (property, value) in values { try Self.check(property, value, abilities, draft) }
        if values.count > 1 { try Self.checkTogether(values, draft) }
        return (draft, abilities)
    }

    private static func check(
        _ property: AnyProperty, _ value: PropertyValue?, _ abilities: DeviceAbilities, _ draft: EncoderConfiguration
    ) throws {
        guard let domain = property.domain(abilities) else {
            throw VaencError(
                .unavailable, "the device has no \(property.name)", remedy: "supportedProperties lists what it has")
        }
        guard let value else { return }
        try property.check(value, draft)
        if !domain.contains(value) {
            throw VaencError(
                .unavailable, "\(property.name) is out of the device's range", remedy: "give \(domain.description)")
        }
    }

    /// What is given at once must go together; one by one it may still become so, until the encoder is prepared.
    private static func checkTogether(_ values: [(AnyProperty, PropertyValue?)], _ draft: EncoderConfiguration) throws {
        // Switches that stand for numbers.
        for case (let property, .bool(let state)?) in values {
            guard let read = property.read(draft), read != .bool(state) else { continue }
            throw VaencError(
                .usage, "\(property.name) \(state) contradicts another of the values", remedy: "leave out one of them")
        }
        try draft.checkContradictions(draft.rateControl ?? (draft.bitrate != nil ? .vbr : .icq))
    }

    /// Of a session that runs.
    private func change(_ values: [(AnyProperty, PropertyValue?)], _ abilities: DeviceAbilities) throws {
        var change = RunningChange()
        for (property, value) in values {
            guard property.changes, abilities.changes(property.name) else {
                throw VaencError(
                    .usage, "\(property.name) cannot change while the session runs",
                    remedy: "set it before the first frame, or swap to another configuration")
            }
            guard let value else {
                throw VaencError(
                    .usage, "\(property.name) cannot be taken back while the session runs", remedy: "give a value")
            }
            _ = property.change(&change, value)
        }
        try core.change(change)
    }

    private func abilities() throws -> DeviceAbilities {
        let (configuration, stage, device) = core.state.withLock { ($0.configuration, $0.stage, $0.device) }
        return try Self.abilities(stage.abilitiesReport(device), configuration, chosen: stage.choice.codec)
    }

    private static func abilities(
        _ report: DeviceReport?, _ configuration: EncoderConfiguration, chosen: VideoCodec
    ) throws -> DeviceAbilities {
        // What was set since may have decided otherwise.
        let codec = CodecChoice.bound(by: configuration)?.codec ?? chosen
        guard let abilities = report.flatMap({ DeviceAbilities($0, configuration.coding(codec)) }) else {
            throw VaencError(
                .unavailable, "the device does not encode \(codec.rawValue)",
                remedy: "see `vaenc probe`")
        }
        return abilities
    }
}

extension SessionCore.Stage {
    /// What the stage's device says it can do. Asks the driver.
    func abilitiesReport(_ device: DeviceSelector) -> DeviceReport? {
        switch choice.kind {
        case .software: DeviceReport(kind: .software, usable: true)
        case .reference: Devices.reports(.reference).first
        case .vaapi:
            if let path = choice.path { DeviceReport.ofRenderNode(path) } else { Devices.reports(device).first }
        }
    }
}

extension Devices {
    /// The properties that sessions on a device have: VTCopySupportedPropertyDictionaryForEncoder. Empty where the device
    /// does not encode the codec, and for a profile of another codec.
    public static func supportedProperties(
        _ report: DeviceReport, codec: VideoCodec, profile: CodecProfile? = nil
    ) -> [SupportedProperty] {
        if let profile, profile.codec != codec { return [] }
        var configuration = EncoderConfiguration(size: VideoSize(width: 0, height: 0))
        configuration.codec = codec
        configuration.profile = profile
        guard let abilities = DeviceAbilities(report, configuration) else { return [] }
        return AnyProperty.all.compactMap { $0.supported(abilities) }
    }
}
