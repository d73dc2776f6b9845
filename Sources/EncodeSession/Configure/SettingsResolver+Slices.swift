import VideoBase

extension SettingsResolver {
    mutating func chooseSlices(_ limits: EncodeCapabilities, grid: BlockGrid, level: StreamLevel) -> [Int] {
        let wanted = asked.coding.slices ?? 1
        let rows = grid.rows
        let held = level.maxSlices ?? .max
        var most = max(min(wanted, rows, limits.maxSlices, held), 1)
        func partition() -> [Int] {
            SlicePartition.firstRows(rows: rows, slices: most, structure: limits.sliceStructure)
        }
        var firstRows = partition()
        // The last slice is the smallest.
        while most > 1, (rows - (firstRows.last ?? 0)) * grid.columns < limits.coding.minSliceBlocks {
            most -= 1
            firstRows = partition()
        }
        let used = firstRows.count
        let why: SettingReason =
            if asked.coding.slices == nil {
                .standard
            } else if used == wanted {
                .requested
            } else if wanted > rows, rows <= limits.maxSlices, used == rows {
                "a slice has at least one \(limits.coding.blockName) row"
            } else if wanted > held, used == held {
                "limit of level \(level.name)"
            } else {
                "driver limit"
            }
        report.add("slices", asked: asked.coding.slices, used: used, why: why)
        return firstRows
    }

    /// Returns the maximum size of a slice in bytes; nil: no limit.
    mutating func chooseSliceBytes(_ limits: EncodeCapabilities) -> Int? {
        guard let wanted = asked.rate.maxSliceBytes else { return nil }
        guard limits.limitsSliceBytes else {
            report.add(
                "maxSliceBytes", asked: String(wanted), used: "no limit",
                why: "the driver cannot limit the size of slices")
            return nil
        }
        report.add("maxSliceBytes", asked: wanted, used: wanted, why: .requested)
        return wanted
    }
}
