import Threads
public import VAAPI
public import VideoBase

/// Properties that are read and set by key, like VTSessionSetProperty and VTSessionCopyProperty.
///
/// Before the first frame, every property can be set. Contradictions between properties are reported when the encoder
/// is prepared. While the session runs, properties with `changesWhileRunning` can be set. The new value applies from
/// the next frame on, without a key frame. If the device does not support a property or a value, setting it is an
/// error; for a field of the configuration, the device may use the nearest supported value.
extension CompressionSession {
    /// The properties that the session's device supports, for the session's codec and profile. Queries the driver, so
    /// it can block.
    ///
    /// - Throws: `unavailable` if the device does not encode the codec.
    public var supportedProperties: [SupportedProperty] {
        get throws {
            let capabilities = try capabilities()
            return AnyProperty.all.compactMap { $0.supported(capabilities) }
                + ReadOnlyProperty.allCases.map {
                    SupportedProperty(name: $0.rawValue, type: $0.type, isReadOnly: true, changesWhileRunning: false)
                }
        }
    }

    /// Returns the value that was set, or requested in the configuration. nil means that the encoder chooses;
    /// `encoderDescription.effective` lists the value that it uses.
    public func value<Value>(_ property: SessionProperty<Value>) -> Value? { property.read(configuration) }

    /// Returns a property's value by name. Read-only properties are included.
    ///
    /// - Throws: `usage` for an unknown name; for a read-only property, the errors of `encoderDescription`.
    public func value(named name: String) throws -> PropertyValue? {
        if let readOnly = ReadOnlyProperty(rawValue: name) { return try readOnly.value(self) }
        return try Self.property(name).read(configuration)
    }

    /// Sets a property. Queries the driver, so it can block.
    ///
    /// - Parameter value: The new value. nil leaves the choice to the encoder, and is possible only before the first
    ///   frame.
    /// - Throws: `unavailable` if the device does not support the property or the value; `usage` if no device supports
    ///   the value, if the property can no longer change, or after `invalidate`. If the call throws, nothing has
    ///   changed.
    public func set<Value>(_ property: SessionProperty<Value>, to value: Value?) throws {
        try set([(AnyProperty(property), value.map(property.propertyValue))])
    }

    /// Sets a property by name.
    ///
    /// - Throws: The errors of `set(_:to:)`; `usage` for an unknown name, a read-only property, or a value of another
    ///   type.
    public func set(named name: String, to value: PropertyValue?) throws {
        try set([(try Self.property(name), value)])
    }

    /// Sets several properties in one step: all of them, or none if the call throws. Their order has no effect.
    ///
    /// - Throws: The errors of `set(named:to:)`; `usage` if the values contradict each other.
    public func set(_ values: [String: PropertyValue]) throws {
        try set(values.sorted { $0.key < $1.key }.map { (try Self.property($0.key), $0.value) })
    }

    /// All values that were set or requested, by property name. They can be stored and passed to `set` later, like
    /// VTSessionCopySerializableProperties.
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
            ReadOnlyProperty(rawValue: name) == nil
                ? "there is no property \(name)" : "the property \(name) is read-only",
            remedy: "see the properties in supportedProperties")
    }

    private func set(_ values: [(AnyProperty, PropertyValue?)]) throws {
        if core.isInvalidated { throw SessionCore.invalidated }
        let (configuration, stage, device) = core.state.withLock { ($0.configuration, $0.stage, $0.device) }
        let (_, capabilities) = try Self.draft(
            values, of: configuration, chosen: stage.choice.codec, on: stage.capabilityReport(device))
        let isConfigured = try core.configure { configuration in
            for (property, value) in values { _ = property.write(value, to: &configuration, on: capabilities) }
        }
        if !isConfigured { try change(values) }
    }

    /// Returns the configuration with all the values, and the capabilities of the device for it.
    ///
    /// - Parameter chosen: The codec that is used if the configuration leaves the choice to the device.
    /// - Throws: The errors of `set`, before anything is set.
    static func draft(
        _ values: [(AnyProperty, PropertyValue?)], of configuration: EncoderConfiguration, chosen: VideoCodec,
        on report: DeviceReport?
    ) throws -> (EncoderConfiguration, SessionCapabilities) {
        var plain = configuration
        for (property, value) in values {
            guard value?.isFinite != false, property.write(&plain, value) else {
                if property.type == .name, let text = value?.asString {
                    throw VaencError(
                        .usage, "\(property.name) has no value “\(text)”", remedy: "use one of the choices that the list of supported properties has")
                }
                if value?.isFinite == false {
                    throw VaencError(
                        .usage, "the value of \(property.name) is not a finite number", remedy: "set a finite number")
                }
                throw VaencError(
                    .usage, "the value of \(property.name) has the wrong type",
                    remedy: "set a value of type \(property.type)")
            }
        }
        // The values of some properties decide which values others accept. The order of `values` must have no effect.
        let capabilities = try Self.capabilities(report, plain, chosen: chosen)
        var draft = configuration
        for (property, value) in values { _ = property.write(value, to: &draft, on: capabilities) }
        for (property, value) in values { try Self.check(property, value: value, capabilities: capabilities, draft: draft) }
        if values.count > 1 { try Self.checkTogether(values, draft) }
        return (draft, capabilities)
    }

    private static func check(
        _ property: AnyProperty, value: PropertyValue?, capabilities: SessionCapabilities, draft: EncoderConfiguration
    ) throws {
        guard let domain = property.domain(capabilities) else {
            throw VaencError(
                .unavailable, "the device does not support \(property.name)",
                remedy: "see the device's properties in supportedProperties")
        }
        guard let value else { return }
        try property.check(value, draft)
        if !domain.contains(value) {
            throw VaencError(
                .unavailable, "the value of \(property.name) is out of the device's range",
                remedy: "use \(domain.description)")
        }
    }

    /// Checks that values of one call do not contradict each other. Values that are set one by one are not checked
    /// here: a later call may resolve a contradiction before the encoder is prepared.
    private static func checkTogether(_ values: [(AnyProperty, PropertyValue?)], _ draft: EncoderConfiguration) throws {
        // Boolean properties that set a number, such as AllowFrameReordering.
        for case (let property, .bool(let state)?) in values {
            guard let read = property.read(draft), read != .bool(state) else { continue }
            throw VaencError(
                .usage, "\(property.name) \(state) contradicts another value of the same call",
                remedy: "remove one of the two")
        }
        // A rate above a maximum that is not set with it: a running encoder raises the maximum.
        var judged = draft
        if let average = draft.rate.bitrate, let most = draft.rate.maxBitrate, most < average,
            !values.contains(where: { $0.0.name == "VBVMaxBitRate" })
        {
            judged.rate.maxBitrate = average
        }
        try judged.checkContradictions(draft.wantedRateControl)
    }

    /// Changes properties of a running session. The encoder refuses the changes that it cannot make, and says why.
    private func change(_ values: [(AnyProperty, PropertyValue?)]) throws {
        var change = RunningChange()
        for (property, value) in values {
            guard property.changes else {
                throw VaencError(
                    .usage, "\(property.name) cannot change while the session runs",
                    remedy: "set it before the first frame, or swap to another configuration")
            }
            guard let value else {
                throw VaencError(
                    .usage, "\(property.name) cannot be removed while the session runs", remedy: "set a value instead")
            }
            _ = property.change(&change, value)
        }
        try core.change(change)
    }

    private func capabilities() throws -> SessionCapabilities {
        let (configuration, stage, device) = core.state.withLock { ($0.configuration, $0.stage, $0.device) }
        return try Self.capabilities(stage.capabilityReport(device), configuration, chosen: stage.choice.codec)
    }

    private static func capabilities(
        _ report: DeviceReport?, _ configuration: EncoderConfiguration, chosen: VideoCodec
    ) throws -> SessionCapabilities {
        // Properties that were set since the session chose its codec can determine another codec.
        let codec = CodecChoice.codec(determinedBy: configuration)?.codec ?? chosen
        guard let capabilities = report.flatMap({ SessionCapabilities($0, configuration.coding(codec)) }) else {
            throw VaencError(
                .unavailable, "the device does not encode \(codec.rawValue)",
                remedy: "see `Devices.reports`")
        }
        return capabilities
    }
}

extension SessionCore.Stage {
    /// Returns the report of the stage's device. Queries the driver.
    func capabilityReport(_ device: DeviceSelector) -> DeviceReport? {
        switch choice.kind {
        case .software: DeviceReport(kind: .software, usable: true)
        case .reference: Devices.reports(.reference).first
        case .vaapi:
            if let path = choice.path { DeviceReport.ofRenderNode(path) } else { Devices.reports(device).first }
        }
    }
}

extension Devices {
    /// Returns the properties that sessions on a device support, like VTCopySupportedPropertyDictionaryForEncoder. The
    /// list is empty if the device does not encode the codec, or if the profile belongs to another codec.
    public static func supportedProperties(
        _ report: DeviceReport, codec: VideoCodec, profile: CodecProfile? = nil
    ) -> [SupportedProperty] {
        if let profile, profile.codec != codec { return [] }
        var configuration = EncoderConfiguration(size: VideoSize(width: 0, height: 0))
        configuration.codec = codec
        configuration.profile = profile
        guard let capabilities = SessionCapabilities(report, configuration) else { return [] }
        return AnyProperty.all.compactMap { $0.supported(capabilities) }
    }
}
