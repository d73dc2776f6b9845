/// An unchecked pointer to `Element`s with subscripts, for the driver's kernels.
///
/// SAFETY: whoever makes a pointer guarantees that all accesses stay inside one allocation and that the allocation
/// outlives the pointer. Pointers are made from `ElementStorage`, which outlives the picture being coded, or from a
/// mapped client surface. Whoever passes a pointer to another thread guarantees that the two threads do not access the
/// same elements at the same time.
@safe package struct ElementPointer<Element>: @unchecked Sendable, BitwiseCopyable {
    package let base: UnsafeMutablePointer<Element>

    @inline(__always) package init(_ base: UnsafeMutablePointer<Element>) { unsafe self.base = base }

    @inline(__always) package subscript(_ index: Int) -> Element {
        get { unsafe base[Self.hidden(index)] }
        nonmutating set { unsafe base[Self.hidden(index)] = newValue }
    }

    /// Returns the index unchanged, in a form that only the last compilation stage can simplify. The optimizer of Swift
    /// 6.3 drops a store at a constant negative index if a store at index 0 follows.
    @inline(__always) private static func hidden(_ index: Int) -> Int { SIMD2<Int>(x: index, y: 0).x }

    @inline(__always) package static func + (elements: ElementPointer, offset: Int) -> ElementPointer {
        unsafe ElementPointer(elements.base + hidden(offset))
    }
    @inline(__always) package static func - (elements: ElementPointer, offset: Int) -> ElementPointer {
        unsafe ElementPointer(elements.base - hidden(offset))
    }

    /// Reads a vector (or any plain value) at an element offset. It need not be aligned.
    @inline(__always) package func load<Vector: BitwiseCopyable>(_ index: Int, as type: Vector.Type = Vector.self)
        -> Vector
    {
        unsafe UnsafeRawPointer(base + Self.hidden(index)).loadUnaligned(as: type)
    }

    /// Writes a vector (or any plain value) at an element offset. It need not be aligned.
    @inline(__always) package func store<Vector: BitwiseCopyable>(_ index: Int, _ value: Vector) {
        unsafe UnsafeMutableRawPointer(base + Self.hidden(index)).storeBytes(of: value, as: Vector.self)
    }
}

extension ElementPointer where Element: BitwiseCopyable {
    @inline(__always) package func fill(_ value: Element, count: Int) {
        unsafe base.update(repeating: value, count: count)
    }
    @inline(__always) package func copy(from other: ElementPointer, count: Int) {
        unsafe base.update(from: other.base, count: count)
    }
}

/// Owns memory for `ElementPointer`s. It is 64-byte aligned, and every element has the initial value.
@safe package final class ElementStorage<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    package let count: Int
    package let elements: ElementPointer<Element>

    package init(count: Int, repeating value: Element) {
        self.count = count
        let raw = UnsafeMutableRawPointer.allocate(
            byteCount: max(1, count * MemoryLayout<Element>.stride), alignment: 64)
        elements = unsafe ElementPointer(raw.initializeMemory(as: Element.self, repeating: value, count: count))
    }

    deinit { unsafe UnsafeMutableRawPointer(elements.base).deallocate() }
}
