internal import CVA

/// A VA buffer. The display's monitor guards it.
final class Buffer {
    /// The contents of a buffer.
    enum Content {
        /// The client's parameters, packed headers or slice data.
        case data(HostMemory)
        case coded(CodedBuffer)
        /// The memory of an image that is not derived from a surface.
        case image(HostMemory)
        /// The surface whose memory a derived image shows.
        case surface(Surface)
    }

    let id: VABufferID
    let type: VABufferType
    /// The size of an element in bytes.
    let elementSize: Int
    /// The number of elements that fit into the buffer.
    let capacity: Int
    /// The number of elements that are in use (vaBufferSetNumElements).
    var elementCount: Int
    let content: Content
    /// A second reference to the object in `content`, for leak checkers.
    ///
    /// An enum stores its case in bits of the pointer, so a leak checker does not recognize the pointer.
    private let contentObject: AnyObject
    var isMapped = false

    init(id: VABufferID, type: VABufferType, elementSize: Int, count: Int, content: Content) {
        self.id = id
        self.type = type
        self.elementSize = elementSize
        capacity = count
        elementCount = count
        self.content = content
        contentObject =
            switch content {
            case .data(let memory), .image(let memory): memory
            case .coded(let coded): coded
            case .surface(let surface): surface
            }
    }

    /// Returns the client's bytes. Throws UNSUPPORTED_BUFFERTYPE for coded buffers and image buffers.
    func data() throws -> HostMemory {
        guard case .data(let memory) = content else {
            throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE, "buffer type \(type.rawValue) cannot be rendered")
        }
        return memory
    }

    /// Returns the element at `index` as a `Value`. Throws if an element is smaller than a `Value`.
    func element<Value>(_ type: Value.Type, at index: Int = 0) throws -> Value {
        guard let value = try data().load(type, at: index * elementSize), elementSize >= MemoryLayout<Value>.size else {
            throw Refusal.invalidParameter("a buffer of \(elementSize) bytes is too small for its type")
        }
        return value
    }
}
