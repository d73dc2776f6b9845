import VideoBase

extension SettingsResolver {
    mutating func chooseSlices(_ limits: DeviceLimits, rows: Int) -> [Int] {
        let wanted = asked.slices ?? 1
        let most = max(min(wanted, rows, limits.maxSlices), 1)
        let firstRows = SlicePartition.firstRows(rows: rows, slices: most, structure: limits.sliceStructure)
        let used = firstRows.count
        let why =
            asked.slices == nil
            ? Reason.standard
            : used == wanted
                ? Reason.asked
                : wanted > rows && rows <= limits.maxSlices && used == rows
                    ? "a slice has at least one macroblock row" : "driver limit"
        report.add("slices", asked: asked.slices, used: used, why: why)
        return firstRows
    }

    /// The largest slice in bytes; nil: no limit.
    mutating func chooseSliceBytes(_ limits: DeviceLimits) -> Int? {
        guard let wanted = asked.maxSliceBytes else { return nil }
        guard limits.limitsSliceBytes else {
            report.add(
                "maxSliceBytes", asked: String(wanted), used: "no limit", why: "the driver does not cut slices by size")
            return nil
        }
        report.add("maxSliceBytes", asked: wanted, used: wanted, why: Reason.asked)
        return wanted
    }
}
