/// One value for each reference picture list, 0 and 1.
///
/// It needs no memory of its own, unlike an array: slice headers are made for each picture.
@usableFromInline package struct PerList<Value: Hashable & Sendable>: Hashable, Sendable {
    @usableFromInline var list0: Value
    @usableFromInline var list1: Value

    @inlinable package init(_ list0: Value, _ list1: Value) { (self.list0, self.list1) = (list0, list1) }

    /// - Precondition: `list` is 0 or 1.
    @inlinable package subscript(list: Int) -> Value {
        get {
            precondition(list >> 1 == 0, "list \(list)")
            return list == 0 ? list0 : list1
        }
        _modify {
            precondition(list >> 1 == 0, "list \(list)")
            if list == 0 { yield &list0 } else { yield &list1 }
        }
    }
}
