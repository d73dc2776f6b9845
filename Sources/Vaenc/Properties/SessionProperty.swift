import VideoBase

/// A property of a session, with its name and type: `session.set(.averageBitRate, to: BitsPerSecond(4_000_000))`.
///
/// If VideoToolbox has the same property, the name is the same. docs/VIDEOTOOLBOX.md maps all names.
public struct SessionProperty<Value: Sendable & Hashable>: Sendable {
    /// The name of the property, for example `AverageBitRate`.
    public let name: String
    let domain: @Sendable (SessionCapabilities) -> PropertyDomain?
    let read: @Sendable (EncoderConfiguration) -> Value?
    let write: @Sendable (inout EncoderConfiguration, Value?) -> Void
    /// Changes a running session; nil if the property cannot change after the first frame.
    let change: (@Sendable (inout RunningChange, Value) -> Void)?
    /// Throws `usage` for a value that no device supports, in a session with the configuration.
    private(set) var check: @Sendable (Value, EncoderConfiguration) throws -> Void
    /// The kind of the value in lists of properties.
    let kind: PropertyKind
    /// Converts to and from a value without its Swift type; `fromPropertyValue` returns nil for another type.
    let propertyValue: @Sendable (Value) -> PropertyValue
    let fromPropertyValue: @Sendable (PropertyValue) -> Value?

    /// - Parameter domain: Returns the values that a device supports; nil if it does not support the property.
    init(
        _ name: String, _ domain: @escaping @Sendable (SessionCapabilities) -> PropertyDomain?,
        read: @escaping @Sendable (EncoderConfiguration) -> Value?,
        write: @escaping @Sendable (inout EncoderConfiguration, Value?) -> Void,
        change: (@Sendable (inout RunningChange, Value) -> Void)? = nil,
        check: @escaping @Sendable (Value, EncoderConfiguration) throws -> Void = { _, _ in }
    ) where Value: PropertyType {
        self.name = name
        self.domain = domain
        self.read = read
        self.write = write
        self.change = change
        self.check = check
        kind = Value.propertyKind
        propertyValue = { $0.propertyValue }
        fromPropertyValue = { Value(propertyValue: $0) }
    }

    /// Creates a property that is a field of the configuration.
    init(
        _ name: String, _ field: any WritableKeyPath<EncoderConfiguration, Value?> & Sendable,
        domain: @escaping @Sendable (SessionCapabilities) -> PropertyDomain?
    ) where Value: PropertyType {
        self.init(name, domain, read: { $0[keyPath: field] }, write: { $0[keyPath: field] = $1 })
    }

    /// Creates a property that is a field of the configuration and can change while the session runs.
    init(
        _ name: String, _ field: any WritableKeyPath<EncoderConfiguration, Value?> & Sendable,
        change: any WritableKeyPath<RunningChange, Value?> & Sendable,
        domain: @escaping @Sendable (SessionCapabilities) -> PropertyDomain?
    ) where Value: PropertyType {
        self.init(
            name, domain, read: { $0[keyPath: field] }, write: { $0[keyPath: field] = $1 },
            change: { $0[keyPath: change] = $1 })
    }
}

extension SessionProperty where Value == Int {
    /// Returns the property with a check: no device accepts a value outside `range`.
    func within(_ range: ClosedRange<Int>) -> Self {
        var copy = self
        let name = name
        copy.check = { value, _ in
            guard !range.contains(value) else { return }
            throw VaencError(
                .usage, "\(name) \(value) is out of range", remedy: "use \(range.lowerBound) to \(range.upperBound)")
        }
        return copy
    }
}

extension SessionProperty where Value == CodecLevel {
    /// Returns the property with a check: no device accepts a level outside `range`, in tenths.
    func within(_ range: ClosedRange<Int>) -> Self {
        var copy = self
        let name = name
        copy.check = { level, _ in
            guard !range.contains(level.tenths) else { return }
            throw VaencError(
                .usage, "\(name) \(level.tenths) is out of range", remedy: "use \(range.lowerBound) to \(range.upperBound)")
        }
        return copy
    }
}

extension SessionProperty where Value == BitsPerSecond {
    /// Returns the property with a check: no device accepts a rate outside `Validation.bitrates`.
    func withinBitrates() -> Self {
        var copy = self
        let name = name
        copy.check = { rate, _ in
            guard !Validation.bitrates.contains(rate.value) else { return }
            throw VaencError(.usage, "\(name) \(rate) is out of range", remedy: "use 1k to 4G bits per second")
        }
        return copy
    }
}

extension SessionProperty where Value == Duration {
    /// Returns the property with a check: no device accepts a value that is not above 0 or that is above `most` seconds.
    func above0(upTo most: Double) -> Self {
        var copy = self
        let name = name
        copy.check = { value, _ in
            let seconds = value.seconds
            guard !(seconds > 0 && seconds <= most) else { return }
            throw VaencError(
                .usage, "\(name) \(seconds) is out of range", remedy: "use a value above 0 and up to \(most)")
        }
        return copy
    }
}

/// The values that a property accepts.
enum PropertyDomain: Sendable, Hashable {
    case any
    case range(Double, Double)
    case names([String])
    /// Integers that are not contiguous, in ascending order.
    case numbers([Int])
    /// A boolean property with only one possible value.
    case only(Bool)
    /// Lists with a maximum number of elements, each with a fixed number of numbers.
    case elements(upTo: Int, each: Int)

    /// Returns nil if there is no range.
    static func whole(_ range: ClosedRange<Int>?) -> PropertyDomain? { range.map { whole($0) } }

    /// Returns a range if the ascending numbers are contiguous, else the numbers.
    static func choice(_ numbers: [Int]) -> PropertyDomain {
        if let low = numbers.first, let high = numbers.last, high - low == numbers.count - 1 { return whole(low...high) }
        return .numbers(numbers)
    }

    static func whole(_ range: ClosedRange<Int>) -> PropertyDomain {
        .range(Double(range.lowerBound), Double(range.upperBound))
    }

    func contains(_ value: PropertyValue) -> Bool {
        switch self {
        case .any: true
        case .range(let low, let high):
            (value.asNumber ?? Rational(propertyValue: value)?.value).map { $0 >= low && $0 <= high } ?? true
        case .names(let names): value.asString.map(names.contains) ?? true
        case .numbers(let numbers): value.asInteger.map(numbers.contains) ?? true
        case .only(let state): value == .bool(state)
        case .elements(let count, let size): value.asList.map { $0.count <= count * size } ?? true
        }
    }

    var description: String {
        switch self {
        case .any: "any"
        case .range(let low, let high):
            high == high.rounded() && low == low.rounded() ? "\(Int(low)) to \(Int(high))" : "\(low) to \(high)"
        case .names(let names): names.joined(separator: ", ")
        case .numbers(let numbers): numbers.map { "\($0)" }.joined(separator: ", ")
        case .only(let state): "\(state)"
        case .elements(let count, _): "at most \(count) elements"
        }
    }
}

/// A property as a device supports it: an entry of VTSessionCopySupportedPropertyDictionary.
public struct SupportedProperty: Sendable, Hashable, Encodable {
    /// The name of the property, for example `AverageBitRate`.
    public var name: String
    /// The type of the value.
    public var type: PropertyKind
    /// Whether the property can only be read.
    public var isReadOnly: Bool
    /// Whether the property can be set between frames. Other properties can be set only before the first frame.
    public var changesWhileRunning: Bool
    /// The smallest value; nil if the property has no range.
    public var minimum: Double?
    /// The largest value; nil if the property has no range.
    public var maximum: Double?
    /// The possible values of a name, of a number whose range has gaps, or of a boolean with only one possible value;
    /// else nil.
    public var choices: [String]?
    /// The maximum number of list elements; nil if the number is not limited, and for other types.
    public var maximumCount: Int?
}

/// A property without the Swift type of its values.
struct AnyProperty: Sendable {
    var name: String
    var type: PropertyKind
    var changes: Bool
    var domain: @Sendable (SessionCapabilities) -> PropertyDomain?
    var read: @Sendable (EncoderConfiguration) -> PropertyValue?
    /// Returns false if the value has another type.
    var write: @Sendable (inout EncoderConfiguration, PropertyValue?) -> Bool
    var change: @Sendable (inout RunningChange, PropertyValue) -> Bool
    /// Throws `usage` for a value that no device supports.
    var check: @Sendable (PropertyValue, EncoderConfiguration) throws -> Void

    init<Value>(_ property: SessionProperty<Value>) {
        name = property.name
        type = property.kind
        changes = property.change != nil
        domain = property.domain
        read = { property.read($0).map(property.propertyValue) }
        write = { configuration, value in
            guard let value else {
                property.write(&configuration, nil)
                return true
            }
            guard let typedValue = property.fromPropertyValue(value) else { return false }
            property.write(&configuration, typedValue)
            return true
        }
        change = { change, value in
            guard let typedValue = property.fromPropertyValue(value) else { return false }
            property.change?(&change, typedValue)
            return true
        }
        check = { value, configuration in
            if let typedValue = property.fromPropertyValue(value) { try property.check(typedValue, configuration) }
        }
    }

    /// Writes a value for a device. If a feature is enabled without a number, the number is reduced to the maximum that
    /// the device supports.
    ///
    /// - Returns: False if the value has another type.
    func write(
        _ value: PropertyValue?, to configuration: inout EncoderConfiguration, on capabilities: SessionCapabilities
    ) -> Bool {
        let hadLongTerm = (configuration.structure.longTermReferences ?? 0) > 0
        guard write(&configuration, value) else { return false }
        if !hadLongTerm, name == AnyProperty(.enableLTR).name, let count = configuration.structure.longTermReferences {
            configuration.structure.longTermReferences = min(count, max(capabilities.longTermReferences, 1))
        }
        return true
    }

    func supported(_ capabilities: SessionCapabilities) -> SupportedProperty? {
        guard let domain = domain(capabilities) else { return nil }
        var result = SupportedProperty(
            name: name, type: type, isReadOnly: false, changesWhileRunning: changes && capabilities.changes(name))
        switch domain {
        case .any: break
        case .range(let low, let high): (result.minimum, result.maximum) = (low, high)
        case .names(let names): result.choices = names
        case .numbers(let numbers):
            (result.minimum, result.maximum) = (numbers.first.map(Double.init), numbers.last.map(Double.init))
            result.choices = numbers.map { "\($0)" }
        case .only(let state): result.choices = ["\(state)"]
        case .elements(let count, _): result.maximumCount = count
        }
        return result
    }
}
