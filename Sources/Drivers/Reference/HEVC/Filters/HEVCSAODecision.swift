/// Chooses the sample adaptive offsets of each coding tree unit of a deblocked picture by squared error and bits.
struct HEVCSAODecision<Sample: HEVCSample> {
    let bounds: HEVCFilterBounds
    let tiles: HEVCTiles
    let source: HEVCPlanes<Sample>
    let planes: HEVCPlanes<Sample>
    /// The Lagrange multiplier: the squared error that one bit is weighted with.
    let lambda: Double
    private let statistics = [HEVCSAOStatistics(), HEVCSAOStatistics(), HEVCSAOStatistics()]
    /// The maximum magnitude of an offset: cMax of sao_offset_abs.
    private let largest = (1 << (min(Sample.bitDepth, 10) - 5)) - 1

    init(
        bounds: HEVCFilterBounds, tiles: HEVCTiles, source: HEVCPlanes<Sample>, planes: HEVCPlanes<Sample>,
        lambda: Double
    ) {
        self.bounds = bounds
        self.tiles = tiles
        self.source = source
        self.planes = planes
        self.lambda = lambda
    }

    /// Fills `sao` of all trees, which are in raster order.
    func run(_ trees: [HEVCCodingTree]) {
        for address in trees.indices { trees[address].sao.elements[0] = choose(address, trees) }
    }

    private func choose(_ address: Int, _ trees: [HEVCCodingTree]) -> HEVCSAOParameters {
        let slice = bounds.slices[Int(bounds.slice[address])]
        var parameters = HEVCSAOParameters()
        if !slice.slice_sao_luma_flag && !slice.slice_sao_chroma_flag { return parameters }
        gather(address, slice)
        var cost = 0.0
        if slice.slice_sao_luma_flag { (parameters.luma, cost) = best(statistics[0]) }
        if slice.slice_sao_chroma_flag {
            let chroma = bestChroma()
            (parameters.cb, parameters.cr) = (chroma.cb, chroma.cr)
            cost += chroma.cost
        }
        let left = neighbor(address, address - 1, exists: address % bounds.grid.columns > 0)
        let above = neighbor(address, address - bounds.grid.columns, exists: address >= bounds.grid.columns)
        // Without merging, a merge flag of 0 is coded for each available neighbor.
        cost += lambda * Double((left == nil ? 0 : 1) + (above == nil ? 0 : 1))
        for (other, isLeft) in [(left, true), (above, false)] {
            guard let other else { continue }
            var merged = trees[other].sao.elements[0]
            (merged.mergesLeft, merged.mergesUp) = (isLeft, !isLeft)
            let price = Double(change(merged)) + lambda * (isLeft || left == nil ? 1 : 2)
            if price < cost { (parameters, cost) = (merged, price) }
        }
        return parameters
    }

    private func neighbor(_ address: Int, _ other: Int, exists: Bool) -> Int? {
        guard exists, bounds.slice[address] == bounds.slice[other], tiles.tileID[address] == tiles.tileID[other] else {
            return nil
        }
        return other
    }

    private func gather(_ address: Int, _ slice: HEVCSliceFilters) {
        let grid = bounds.grid
        let (column, row) = (address % grid.columns, address / grid.columns)
        for component in 0..<3 where component == 0 ? slice.slice_sao_luma_flag : slice.slice_sao_chroma_flag {
            let shift = component == 0 ? 0 : 1
            let size = grid.codingTreeSize >> shift
            let (width, height) = (grid.width >> shift, grid.height >> shift)
            let (plane, original) = (planes.plane(component), source.plane(component))
            statistics[component].gather(
                plane.elements, stride: plane.stride, source: original.elements, sourceStride: original.stride,
                x: column * size..<min((column + 1) * size, width), y: row * size..<min((row + 1) * size, height),
                width: width, height: height)
        }
    }

    /// Returns the change of the squared error that a unit's parameters cause.
    private func change(_ parameters: HEVCSAOParameters) -> Int {
        change(parameters.luma, statistics[0]) + change(parameters.cb, statistics[1])
            + change(parameters.cr, statistics[2])
    }

    private func change(_ component: HEVCSAOParameters.Component, _ statistics: HEVCSAOStatistics) -> Int {
        guard component.kind != .off else { return 0 }
        return (0..<4).reduce(0) { sum, index in
            let kind =
                component.kind == .edge
                ? Self.edgeKind(Int(component.edgeClass), index)
                : HEVCSAOStatistics.bandKinds + (Int(component.band) + index) & 31
            return sum + statistics.change(kind, by: Int(component.offsets[index]))
        }
    }

    /// Returns the kind of samples to which offset `index` of an edge class is added: local minimum, concave, convex,
    /// local maximum.
    private static func edgeKind(_ edgeClass: Int, _ index: Int) -> Int { 5 * edgeClass + index + (index > 1 ? 1 : 0) }

    private func best(_ statistics: HEVCSAOStatistics) -> (HEVCSAOParameters.Component, Double) {
        var chosen = HEVCSAOParameters.Component()
        var cost = lambda
        for edgeClass in 0..<4 {
            let (component, price) = edges(edgeClass, statistics)
            if price + 4 * lambda < cost { (chosen, cost) = (component, price + 4 * lambda) }
        }
        let (component, price) = bands(statistics)
        if price + 2 * lambda < cost { (chosen, cost) = (component, price + 2 * lambda) }
        return (chosen, cost)
    }

    /// Returns the best parameters of both chroma planes, which share the kind and the edge class.
    private func bestChroma() -> (
        cb: HEVCSAOParameters.Component, cr: HEVCSAOParameters.Component, cost: Double
    ) {
        var chosen = (
            cb: HEVCSAOParameters.Component(), cr: HEVCSAOParameters.Component(), cost: lambda
        )
        for edgeClass in 0..<4 {
            let (cb, cbPrice) = edges(edgeClass, statistics[1])
            let (cr, crPrice) = edges(edgeClass, statistics[2])
            let price = cbPrice + crPrice + 4 * lambda
            if price < chosen.cost { chosen = (cb, cr, price) }
        }
        let (cb, cbPrice) = bands(statistics[1])
        let (cr, crPrice) = bands(statistics[2])
        let price = cbPrice + crPrice + 2 * lambda
        return price < chosen.cost ? (cb, cr, price) : chosen
    }

    /// Returns the best offsets of an edge class and their cost (error and bits), without the bits of kind and class.
    private func edges(_ edgeClass: Int, _ statistics: HEVCSAOStatistics) -> (HEVCSAOParameters.Component, Double) {
        var component = HEVCSAOParameters.Component()
        component.kind = .edge
        component.edgeClass = UInt8(truncatingIfNeeded: edgeClass)
        var cost = 0.0
        for index in 0..<4 {
            let limits = index < 2 ? 0...largest : -largest...0
            let (offset, price) = offset(Self.edgeKind(edgeClass, index), statistics, limits, signBits: 0)
            component.offsets[index] = Int8(truncatingIfNeeded: offset)
            cost += price
        }
        return (component, cost)
    }

    /// Returns the best four bands and their cost (error and bits), including the bits of the band position.
    private func bands(_ statistics: HEVCSAOStatistics) -> (HEVCSAOParameters.Component, Double) {
        let all = (0..<32).map {
            offset(HEVCSAOStatistics.bandKinds + $0, statistics, -largest...largest, signBits: 1)
        }
        var chosen = (position: 0, cost: Double.infinity)
        for position in 0..<32 {
            let cost = (0..<4).reduce(0) { $0 + all[(position + $1) & 31].1 }
            if cost < chosen.cost { chosen = (position, cost) }
        }
        var component = HEVCSAOParameters.Component()
        component.kind = .band
        component.band = UInt8(truncatingIfNeeded: chosen.position)
        for index in 0..<4 {
            component.offsets[index] = Int8(truncatingIfNeeded: all[(chosen.position + index) & 31].0)
        }
        return (component, chosen.cost + 5 * lambda)
    }

    /// Returns the cheapest offset of a kind and its cost. Tries the values from the mean difference to the source down
    /// to 0.
    private func offset(
        _ kind: Int, _ statistics: HEVCSAOStatistics, _ limits: ClosedRange<Int>, signBits: Int
    ) -> (Int, Double) {
        let (count, sum) = (statistics.count(kind), statistics.sum(kind))
        var chosen = (0, lambda)
        if count == 0 { return chosen }
        let mean = (2 * abs(sum) + count) / (2 * count) * sum.signum()
        var offset = min(max(mean, limits.lowerBound), limits.upperBound)
        while offset != 0 {
            let bits = min(abs(offset) + 1, largest) + signBits
            let price = Double(statistics.change(kind, by: offset)) + lambda * Double(bits)
            if price < chosen.1 { chosen = (offset, price) }
            offset -= offset.signum()
        }
        return chosen
    }
}
