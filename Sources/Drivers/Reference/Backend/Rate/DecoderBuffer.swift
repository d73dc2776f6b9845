/// The coded picture buffer of a decoder that a stream reaches at a constant rate, or at most at that rate
/// (H.264 annex C): how many bits wait in it when a picture is taken out.
struct DecoderBuffer: Sendable {
    /// Bits.
    private(set) var size: Double
    /// Below zero after pictures that came too late: what the bits to come are owed to.
    private(set) var fullness: Double
    /// Bits that are owed at most.
    private var mostDebt: Double
    /// Bits that arrive from picture to picture.
    private(set) var arrival: Double

    init(size: Double, fullness: Double, arrival: Double, mostDebt: Double) {
        self.size = max(size, 1)
        self.fullness = min(max(fullness, 0), self.size)
        self.arrival = arrival
        self.mostDebt = mostDebt
    }

    /// Another rate or size; what is in the buffer stays, and `scale` says how it changes with a size that the client
    /// never named.
    mutating func change(size: Double, arrival: Double, mostDebt: Double, scale: Double = 1) {
        self.size = max(size, 1)
        self.arrival = arrival
        self.mostDebt = mostDebt
        fullness = min(max(fullness * scale, -mostDebt), self.size)
    }

    /// Takes a picture of `bits` out, and lets the next picture's time come. What does not fit does not arrive.
    mutating func remove(_ bits: Double) { fullness = min(max(fullness - bits, -mostDebt) + arrival, size) }

    /// Bits that a picture of `bits` lacks for the buffer not to overflow at a constant rate.
    func missing(after bits: Double) -> Double { max(0, fullness - bits + arrival - size) }
}
