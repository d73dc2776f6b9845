/// A model of a decoder's coded picture buffer (CPB, H.264 annex C). Bits arrive at a constant rate, and each picture
/// is removed at once.
struct DecoderBuffer: Sendable {
    /// The size of the buffer in bits.
    private(set) var size: Double
    /// The bits in the buffer. It is negative after an underflow: later bits make up for the missing ones first.
    private(set) var fullness: Double
    /// The limit of the missing bits.
    private var maximumDebt: Double
    /// The bits that arrive between two pictures.
    private(set) var arrival: Double

    init(size: Double, fullness: Double, arrival: Double, maximumDebt: Double) {
        self.size = max(size, 1)
        self.fullness = min(max(fullness, 0), self.size)
        self.arrival = arrival
        self.maximumDebt = maximumDebt
    }

    /// Changes the rate and the size. The buffered bits are multiplied by `scale`, which differs from 1 only if the
    /// client did not specify the size.
    mutating func change(size: Double, arrival: Double, maximumDebt: Double, scale: Double = 1) {
        self.size = max(size, 1)
        self.arrival = arrival
        self.maximumDebt = maximumDebt
        fullness = min(max(fullness * scale, -maximumDebt), self.size)
    }

    /// Removes a picture of `bits`, then adds the bits that arrive until the next picture. Bits above the size are
    /// lost.
    mutating func remove(_ bits: Double) { fullness = min(max(fullness - bits, -maximumDebt) + arrival, size) }

    /// Returns the number of filler bits that must follow a picture of `bits` so that the buffer does not overflow.
    func missing(after bits: Double) -> Double { max(0, fullness - bits + arrival - size) }
}
