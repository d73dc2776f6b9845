/// The type of a property's value. The raw value is the text that lists of properties and error messages contain.
public enum PropertyKind: String, Sendable, Hashable, Encodable {
    /// A truth value.
    case boolean
    /// An integer.
    case integer
    /// A floating-point number.
    case number
    /// A text.
    case string
    /// One of the names that the property lists (`SupportedProperty.choices`).
    case name
    /// An integer in bits per second.
    case bitsPerSecond = "bits per second"
    /// An integer, a number, or a text such as `30000/1001`.
    case ratio
    /// The text of a mastering display in the notation of x265.
    case masteringDisplay = "G(x,y)B(x,y)R(x,y)WP(x,y)L(max,min)"
    /// The text of two luminances in cd/m², such as `1000,400`.
    case contentLight = "MaxCLL,MaxFALL"
    /// A flat list with the fields of each `DataRateLimit`.
    case dataRateLimits = "list of bytes, seconds"
    /// A flat list with the fields of each `RegionOfInterest`.
    case regionsOfInterest = "list of x, y, width, height, QP difference"
}

extension PropertyKind: CustomStringConvertible {
    /// The raw value.
    public var description: String { rawValue }
}
