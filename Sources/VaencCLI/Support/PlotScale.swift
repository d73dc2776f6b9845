import VideoBase

/// A linear scale with round numbers at its marks.
struct PlotScale {
    /// The values of the marks, in the value's unit.
    let marks: [Double]
    let top: Double
    private let origin: Double
    private let length: Double

    /// Chooses the marks.
    ///
    /// - Parameters:
    ///   - largest: The largest value that must fit.
    ///   - origin: The coordinate of 0.
    ///   - length: The distance from `origin` up to the top of the scale. If negative, the scale extends to the right.
    init(largest: Double, origin: Double, length: Double, count: Int = 5) {
        let rough = max(largest, 1) / Double(count)
        let power = exponential10(logarithm10(rough).rounded(.down))
        let step = max([1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough, 1)
        top = (max(largest, 1) / step).rounded(.up) * step
        marks = (0...Int((top / step).rounded())).map { Double($0) * step }
        self.origin = origin
        self.length = length
    }

    /// Returns the coordinate of a value.
    func coordinate(_ value: Double) -> Double { origin - value / top * length }
}

/// A scale between two values, linear or logarithmic, with round numbers at its marks.
struct PlotRange {
    /// The values of the marks, in the value's unit.
    let marks: [Double]
    /// The number of decimal places that distinguishes the marks.
    let places: Int
    private let low: Double
    private let high: Double
    private let isLogarithmic: Bool
    private let origin: Double
    private let length: Double

    /// Chooses a linear scale that contains all values. Values that are not finite are ignored.
    ///
    /// - Parameters:
    ///   - origin: The coordinate of the lowest value.
    ///   - length: The distance from `origin` to the highest value. Negative values extend upward.
    ///   - limit: The highest value that the scale may reach.
    init(_ values: [Double], origin: Double, length: Double, limit: Double = .infinity) {
        let finite = values.filter(\.isFinite)
        let (least, most) = (finite.min() ?? 0, finite.max() ?? 1)
        let rough = max((most - least) / 5, abs(most) * 1e-4, 1e-9)
        let exponent = logarithm10(rough).rounded(.down)
        let power = exponential10(exponent)
        let factor = [1.0, 2, 5, 10].first { $0 * power >= rough * 0.999 } ?? 10
        let step = factor * power
        low = (least / step).rounded(.down) * step
        high = max(min((most / step).rounded(.up) * step, max(limit, most)), low + step)
        let (start, count) = (low, Int(min(max((high - low) / step + 1e-6, 1), 20)))
        marks = (0...count).map { start + Double($0) * step }
        places = Int(min(max(0, -exponent - (factor == 10 ? 1 : 0)), 6))
        isLogarithmic = false
        (self.origin, self.length) = (origin, length)
    }

    /// Chooses a logarithmic scale that contains all values, with marks at powers of ten, and between them unless the
    /// scale is wide. Values that are not positive are ignored.
    init(logarithmic values: [Double], origin: Double, length: Double) {
        let finite = values.filter { $0.isFinite && $0 > 1e-300 }
        let (least, most) = (finite.min() ?? 1, finite.max() ?? 10)
        low = least / 1.15
        high = max(most * 1.15, low * 1.5)
        let decades = Int(logarithm10(low).rounded(.down))...Int(logarithm10(high).rounded(.up))
        let ratio = high / low
        let factors = ratio > 300 ? [1.0] : ratio > 8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7]
        let (bottom, top) = (low, high)
        marks = decades.flatMap { power in factors.map { $0 * exponential10(Double(power)) } }.filter { $0 >= bottom && $0 <= top }
        places = low < 1 ? 2 : low < 10 ? 1 : 0
        isLogarithmic = true
        (self.origin, self.length) = (origin, length)
    }

    /// Returns the coordinate of a value.
    func coordinate(_ value: Double) -> Double {
        let part =
            isLogarithmic
            ? (logarithm10(max(value, low)) - logarithm10(low)) / (logarithm10(high) - logarithm10(low)) : (value - low) / (high - low)
        return origin + min(max(part, 0), 1) * length
    }
}
