/// A JSON value that is being encoded. Containers add to it.
final class JSONNode {
    enum Content {
        case nothing
        /// A number, true, false or null.
        case literal(String)
        case string(String)
        case array([JSONNode])
        case object([(String, JSONNode)])
    }

    var content = Content.nothing

    func set(_ value: some Encodable, at path: [any CodingKey]) throws {
        switch value {
        // The standard library encodes these values by the methods of a container.
        case let text as String: content = .string(text)
        case let number as Int: content = .literal(String(number))
        case let flag as Bool: content = .literal(flag ? "true" : "false")
        case let number as Double: try setNumber(number, at: path)
        default:
            try value.encode(to: JSONNodeEncoder(node: self, codingPath: path))
        }
    }

    func setNumber(_ number: some BinaryFloatingPoint & Encodable & LosslessStringConvertible, at path: [any CodingKey]) throws {
        guard number.isFinite else {
            let name = number.isNaN ? "nan" : number < 0 ? "-inf" : "inf"
            throw EncodingError.invalidValue(
                number, .init(codingPath: path, debugDescription: "Unable to encode \(type(of: number)).\(name) directly in JSON."))
        }
        let text = number.description
        content = .literal(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    func append(_ key: (any CodingKey)? = nil) -> JSONNode {
        let node = JSONNode()
        if let key {
            var members: [(String, JSONNode)] = []
            if case .object(let present) = content { members = present }
            // Without this, the array would be copied.
            content = .nothing
            members.append((key.stringValue, node))
            content = .object(members)
        } else {
            var elements: [JSONNode] = []
            if case .array(let present) = content { elements = present }
            content = .nothing
            elements.append(node)
            content = .array(elements)
        }
        return node
    }

    func beginObject() {
        if case .object = content { return }
        content = .object([])
    }

    func beginArray() {
        if case .array = content { return }
        content = .array([])
    }

    var count: Int {
        if case .array(let elements) = content { elements.count } else { 0 }
    }
}

struct JSONNodeEncoder: Encoder {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginObject()
        return KeyedEncodingContainer(JSONObjectContainer(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return JSONArrayContainer(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONValueContainer(node: node, codingPath: codingPath) }
}

private struct JSONIndex: CodingKey {
    let intValue: Int?
    var stringValue: String { "Index \(intValue ?? 0)" }

    init(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { nil }
}

private struct JSONSuperKey: CodingKey {
    var intValue: Int? { nil }
    var stringValue: String { "super" }

    init() {}
    init?(intValue: Int) { nil }
    init?(stringValue: String) { nil }
}

private struct JSONObjectContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let codingPath: [any CodingKey]

    private func add(_ key: any CodingKey) -> JSONNodeEncoder { JSONNodeEncoder(node: node.append(key), codingPath: codingPath + [key]) }

    func encodeNil(forKey key: Key) { node.append(key).content = .literal("null") }
    func encode(_ value: some Encodable, forKey key: Key) throws { try node.append(key).set(value, at: codingPath + [key]) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        add(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { add(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { add(JSONSuperKey()) }
    func superEncoder(forKey key: Key) -> any Encoder { add(key) }
    func encode(_ value: Bool, forKey key: Key) { node.append(key).content = .literal(value ? "true" : "false") }
    func encode(_ value: String, forKey key: Key) { node.append(key).content = .string(value) }
    func encode(_ value: Double, forKey key: Key) throws { try node.append(key).setNumber(value, at: codingPath + [key]) }
    func encode(_ value: Float, forKey key: Key) throws { try node.append(key).setNumber(value, at: codingPath + [key]) }
    func encode(_ value: Int, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: Int8, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: Int16, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: Int32, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: Int64, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: UInt, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: UInt8, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: UInt16, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: UInt32, forKey key: Key) { node.append(key).content = .literal(String(value)) }
    func encode(_ value: UInt64, forKey key: Key) { node.append(key).content = .literal(String(value)) }
}

private struct JSONArrayContainer: UnkeyedEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var count: Int { node.count }

    private func add() -> JSONNodeEncoder {
        let path = codingPath + [JSONIndex(intValue: count)]
        return JSONNodeEncoder(node: node.append(), codingPath: path)
    }

    func encodeNil() { node.append().content = .literal("null") }
    func encode(_ value: some Encodable) throws {
        let added = add()
        try added.node.set(value, at: added.codingPath)
    }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> { add().container(keyedBy: type) }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { add().unkeyedContainer() }
    func superEncoder() -> any Encoder { add() }
    func encode(_ value: Bool) { node.append().content = .literal(value ? "true" : "false") }
    func encode(_ value: String) { node.append().content = .string(value) }
    func encode(_ value: Double) throws {
        let added = add()
        try added.node.setNumber(value, at: added.codingPath)
    }
    func encode(_ value: Float) throws {
        let added = add()
        try added.node.setNumber(value, at: added.codingPath)
    }
    func encode(_ value: Int) { node.append().content = .literal(String(value)) }
    func encode(_ value: Int8) { node.append().content = .literal(String(value)) }
    func encode(_ value: Int16) { node.append().content = .literal(String(value)) }
    func encode(_ value: Int32) { node.append().content = .literal(String(value)) }
    func encode(_ value: Int64) { node.append().content = .literal(String(value)) }
    func encode(_ value: UInt) { node.append().content = .literal(String(value)) }
    func encode(_ value: UInt8) { node.append().content = .literal(String(value)) }
    func encode(_ value: UInt16) { node.append().content = .literal(String(value)) }
    func encode(_ value: UInt32) { node.append().content = .literal(String(value)) }
    func encode(_ value: UInt64) { node.append().content = .literal(String(value)) }
}

private struct JSONValueContainer: SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.content = .literal("null") }
    func encode(_ value: some Encodable) throws { try node.set(value, at: codingPath) }
    func encode(_ value: Bool) { node.content = .literal(value ? "true" : "false") }
    func encode(_ value: String) { node.content = .string(value) }
    func encode(_ value: Double) throws { try node.setNumber(value, at: codingPath) }
    func encode(_ value: Float) throws { try node.setNumber(value, at: codingPath) }
    func encode(_ value: Int) { node.content = .literal(String(value)) }
    func encode(_ value: Int8) { node.content = .literal(String(value)) }
    func encode(_ value: Int16) { node.content = .literal(String(value)) }
    func encode(_ value: Int32) { node.content = .literal(String(value)) }
    func encode(_ value: Int64) { node.content = .literal(String(value)) }
    func encode(_ value: UInt) { node.content = .literal(String(value)) }
    func encode(_ value: UInt8) { node.content = .literal(String(value)) }
    func encode(_ value: UInt16) { node.content = .literal(String(value)) }
    func encode(_ value: UInt32) { node.content = .literal(String(value)) }
    func encode(_ value: UInt64) { node.content = .literal(String(value)) }
}
