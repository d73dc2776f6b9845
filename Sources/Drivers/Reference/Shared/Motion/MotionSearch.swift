/// The patterns of the motion search.
enum MotionSearch {
    /// Returns the offset to the left, right, up or down for index 0…3. The indices of opposite directions differ in
    /// the last bit.
    @inline(__always) static func diamond(_ index: Int) -> (x: Int, y: Int) {
        index < 2 ? (index &* 2 &- 1, 0) : (0, index &* 2 &- 5)
    }

    @inline(__always) static func hexagon(_ index: Int) -> (x: Int, y: Int) {
        switch index {
        case 0: (-2, 0)
        case 1: (-1, -2)
        case 2: (1, -2)
        case 3: (2, 0)
        case 4: (1, 2)
        default: (-1, 2)
        }
    }
}
