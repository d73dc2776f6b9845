import VideoBase

/// The value of a property without its Swift type, for properties that are named at run time and for storing values.
public enum PropertyValue: Sendable, Hashable {
    /// A truth value.
    case bool(Bool)
    /// An integer.
    case integer(Int)
    /// A floating-point number.
    case number(Double)
    /// A text or the name of a choice.
    case string(String)
    /// A list of values.
    case list([PropertyValue])
}

extension PropertyValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
    /// Creates a truth value from a literal.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an integer from a literal.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates a floating-point number from a literal.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates a text from a literal.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a list from a literal.
    public init(arrayLiteral elements: PropertyValue...) { self = .list(elements) }
}

/// The value is encoded as the JSON value of the same type.
extension PropertyValue: Codable {
    /// Decodes a value from a JSON value. Throws a `DecodingError` for null and for an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            self = .list(try container.decode([PropertyValue].self))
        }
    }

    /// Encodes the value as the JSON value of the same type.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        }
    }
}

extension PropertyValue {
    var asInteger: Int? { if case .integer(let value) = self { value } else { nil } }

    var asNumber: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    var asString: String? { if case .string(let value) = self { value } else { nil } }
    /// Whether the value, or each value of a list, is neither infinite nor NaN.
    var isFinite: Bool {
        switch self {
        case .number(let value): value.isFinite
        case .list(let values): values.allSatisfy(\.isFinite)
        default: true
        }
    }
    var asList: [PropertyValue]? { if case .list(let value) = self { value } else { nil } }
}

/// A Swift type that a property's value can have.
protocol PropertyType: Sendable, Hashable {
    /// The kind of the value in lists of properties.
    static var propertyKind: PropertyKind { get }
    /// Creates a value; nil if the property value has another type.
    init?(propertyValue: PropertyValue)
    /// The value without its Swift type.
    var propertyValue: PropertyValue { get }
}

extension Bool: PropertyType {
    static var propertyKind: PropertyKind { .boolean }
    init?(propertyValue: PropertyValue) {
        guard case .bool(let value) = propertyValue else { return nil }
        self = value
    }
    var propertyValue: PropertyValue { .bool(self) }
}

extension Int: PropertyType {
    static var propertyKind: PropertyKind { .integer }
    init?(propertyValue: PropertyValue) {
        guard let value = propertyValue.asInteger else { return nil }
        self = value
    }
    var propertyValue: PropertyValue { .integer(self) }
}

/// The value is a number of seconds.
extension Duration: PropertyType {
    static var propertyKind: PropertyKind { .number }
    init?(propertyValue: PropertyValue) {
        guard let value = propertyValue.asNumber else { return nil }
        self.init(clampedSeconds: value)
    }
    var propertyValue: PropertyValue { .number(seconds) }

    /// Creates a duration from a number of seconds, clamped far outside the range of each property. Returns nil for NaN.
    init?(clampedSeconds seconds: Double) {
        if seconds.isNaN { return nil }
        self.init(checkedSeconds: min(max(seconds, -1e18), 1e18))
    }
}

extension String: PropertyType {
    static var propertyKind: PropertyKind { .string }
    init?(propertyValue: PropertyValue) {
        guard let value = propertyValue.asString else { return nil }
        self = value
    }
    var propertyValue: PropertyValue { .string(self) }
}

/// A property value that is an integer in tenths: 41 is level 4.1.
extension CodecLevel: PropertyType {
    static var propertyKind: PropertyKind { Int.propertyKind }
    init?(propertyValue: PropertyValue) {
        guard let value = propertyValue.asInteger else { return nil }
        self.init(tenths: value)
    }
    var propertyValue: PropertyValue { .integer(tenths) }
}

extension BitsPerSecond: PropertyType {
    static var propertyKind: PropertyKind { .bitsPerSecond }
    init?(propertyValue: PropertyValue) {
        guard let value = propertyValue.asInteger else { return nil }
        self.init(value)
    }
    var propertyValue: PropertyValue { .integer(value) }
}

/// A property value that is an integer, a number, or text such as `30000/1001`.
extension Rational: PropertyType {
    static var propertyKind: PropertyKind { .ratio }
    init?(propertyValue: PropertyValue) {
        switch propertyValue {
        case .integer(let value): self.init(value)
        case .number(let value):
            if let rate = Self(rate: "\(value)") {
                self = rate
            } else if abs(value) < 1e12 {
                self.init(Int((value * 1000).rounded()), 1000)
            } else {
                return nil
            }
        case .string(let text):
            if let rate = Self(rate: text) {
                self = rate
            } else {
                // The text is a valid ratio, although not a valid rate.
                let terms = text.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == ":" }.map { Int($0) }
                guard terms.count == 2, let numerator = terms[0], let denominator = terms[1], denominator != 0 else {
                    return nil
                }
                self.init(numerator, denominator)
            }
        default: return nil
        }
    }
    var propertyValue: PropertyValue { .string(description) }
}

/// Enumerations are represented by the names of their cases.
extension PropertyType where Self: RawRepresentable & CaseIterable, RawValue == String {
    static var propertyKind: PropertyKind { .name }
    init?(propertyValue: PropertyValue) {
        guard let name = propertyValue.asString else { return nil }
        self.init(rawValue: name)
    }
    var propertyValue: PropertyValue { .string(rawValue) }
}

extension RateControlMode: PropertyType {}
extension RateControlOwner: PropertyType {}
extension EntropyCoder: PropertyType {}
extension Tier: PropertyType {}
extension CodecProfile: PropertyType {}
extension PixelFormat: PropertyType {}
extension VideoCodec: PropertyType {}

/// The text is in x265's notation: chromaticities in units of 0.00002, luminances in units of 0.0001 cd/m².
extension MasteringDisplay: PropertyType {
    static var propertyKind: PropertyKind { .masteringDisplay }
    init?(propertyValue: PropertyValue) {
        guard let text = propertyValue.asString else { return nil }
        self.init(text)
    }
    var propertyValue: PropertyValue { .string(description) }
}

/// The text `1000,400` means a MaxCLL of 1000 and a MaxFALL of 400, in cd/m².
extension ContentLight: PropertyType {
    static var propertyKind: PropertyKind { .contentLight }
    init?(propertyValue: PropertyValue) {
        guard let text = propertyValue.asString else { return nil }
        self.init(text)
    }
    var propertyValue: PropertyValue { .string(description) }
}

/// A list of elements, stored as one flat list with the fields of each element in turn.
extension Array: PropertyType where Element: PropertyElement {
    static var propertyKind: PropertyKind { Element.listKind }
    init?(propertyValue: PropertyValue) {
        guard let list = propertyValue.asList, list.count % Element.fieldCount == 0 else { return nil }
        var result: [Element] = []
        for start in stride(from: 0, to: list.count, by: Element.fieldCount) {
            guard let element = Element(fields: list[start..<(start + Element.fieldCount)].map { $0.asNumber }) else {
                return nil
            }
            result.append(element)
        }
        self = result
    }
    var propertyValue: PropertyValue { .list(flatMap(\.fields)) }
}

/// A type of list element that is stored as a fixed number of numbers.
protocol PropertyElement: Sendable, Hashable {
    /// The kind of a list of these elements.
    static var listKind: PropertyKind { get }
    /// The number of fields of an element.
    static var fieldCount: Int { get }
    /// Creates an element from the values of its fields; nil if the number or type of a field is wrong.
    init?(fields: [Double?])
    /// The values of the element's fields, in order.
    var fields: [PropertyValue] { get }
}

extension DataRateLimit: PropertyElement {
    static var listKind: PropertyKind { .dataRateLimits }
    static var fieldCount: Int { 2 }
    init?(fields: [Double?]) {
        guard fields.count == 2, let bytes = fields[0].flatMap(Int.init(exactly:)), let time = fields[1].flatMap(Duration.init(clampedSeconds:))
        else {
            return nil
        }
        self.init(bytes: bytes, duration: time)
    }
    var fields: [PropertyValue] { [.integer(bytes), .number(duration.seconds)] }
}

extension RegionOfInterest: PropertyElement {
    static var listKind: PropertyKind { .regionsOfInterest }
    static var fieldCount: Int { 5 }
    init?(fields: [Double?]) {
        let whole = fields.compactMap { $0.flatMap(Int.init(exactly:)) }
        guard whole.count == 5 else { return nil }
        self.init(x: whole[0], y: whole[1], width: whole[2], height: whole[3], qpDelta: whole[4])
    }
    var fields: [PropertyValue] { [x, y, width, height, qpDelta].map { .integer($0) } }
}
