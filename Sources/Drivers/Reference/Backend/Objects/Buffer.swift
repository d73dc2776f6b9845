internal import CVA

/// A VA buffer. Guarded by the display's monitor.
final class Buffer {
    /// What stands behind the id.
    enum Content {
        /// The client's parameters or packed bytes.
        case data(HostMemory)
        case coded(CodedBuffer)
        /// An image's own memory.
        case image(HostMemory)
        /// A derived image's: the surface's memory.
        case surface(Surface)
    }

    let id: VABufferID
    let type: VABufferType
    let elementSize: Int
    /// Elements that there is room for.
    let capacity: Int
    /// Elements that count, vaBufferSetNumElements.
    var elementCount: Int
    let content: Content
    /// What `content` holds, by a plain reference: an enum's bits also say which of its cases it is, and to a checker of
    /// leaks look like no pointer.
    private let held: AnyObject
    var isMapped = false

    init(id: VABufferID, type: VABufferType, elementSize: Int, count: Int, content: Content) {
        self.id = id
        self.type = type
        self.elementSize = elementSize
        capacity = count
        elementCount = count
        self.content = content
        held =
            switch content {
            case .data(let memory), .image(let memory): memory
            case .coded(let coded): coded
            case .surface(let surface): surface
            }
    }

    /// The client's bytes; throws for other kinds of buffer.
    func data() throws -> HostMemory {
        guard case .data(let memory) = content else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type \(type.rawValue) cannot be rendered")
        }
        return memory
    }

    /// Element `index` as a `Value`.
    func element<Value>(_ type: Value.Type, at index: Int = 0) throws -> Value {
        guard let value = try data().load(type, at: index * elementSize), elementSize >= MemoryLayout<Value>.size else {
            throw Refusal.invalidParameter("a buffer of \(elementSize) bytes is too small for its type")
        }
        return value
    }
}
