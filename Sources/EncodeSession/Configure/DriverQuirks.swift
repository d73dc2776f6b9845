import VideoBase

/// Corrects missing or wrong answers of drivers. The vendor string identifies the driver.
enum DriverQuirks {
    /// Whether the driver is Mesa's driver for AMD.
    static func isRadeon(_ driver: String) -> Bool { driver.contains("radeonsi") || driver.contains("Mesa Gallium") }

    /// Corrects the answers of a driver.
    static func apply(to limits: inout DeviceLimits, driver: String) {
        if driver.contains("iHD") {
            limits.mapsAfterSurfaceSync = true
            // The low-power hardware stores as many references as its two lists hold together. If both lists are
            // reported with the same length, that is the total: more references corrupt the pictures.
            let isUnion = limits.maxReferences0 == limits.maxReferences1
            if isUnion {
                limits.maxStored = max(limits.maxReferences0, 1)
            } else if limits.entryPoint == .sliceLowPower || limits.maxReferences0 <= 3 {
                limits.maxStored = max(limits.maxReferences0 + limits.maxReferences1, 1)
            }
        }
        if driver.contains("iHD"), limits.isHEVC, limits.entryPoint == .sliceLowPower,
            limits.minSize.width < 128 || limits.minSize.height < 128
        {
            // Newer driver versions report this minimum for the same hardware.
            limits.minSize = VideoSize(width: 128, height: 128)
        }
        if driver.contains("iHD"), limits.isHEVC, limits.quality == .levels(count: 7) {
            limits.quality = .threeOfSeven
        }
        guard isRadeon(driver) else { return }
        // Mesa 25 parses parameter sets and slice headers and rewrites them with other numbers (pic_init_qp 26).
        limits.rewritesParameterSets = true
        if limits.isHEVC {
            // The driver rewrites slices of other shapes, at other addresses than those in our headers.
            limits.sliceStructure = .equalRows
            // Mesa 25 fails pictures that have a packed message before their slices and no other packed header. So
            // vaenc inserts all messages after the encode.
            limits.packedHeaders.remove(.rawData)
        }
        // The versions that accept no slice headers (22.3, 24.0) have three faults. They leave
        // VACodedBufferSegment.status unset. They take one QP for all pictures from the first picture's pic_init_qp.
        // They do not report the hardware's minimum size.
        if !limits.takesSliceHeaders {
            limits.reportsStatus = false
            limits.hasOneQP = true
            limits.maxStored = 1
        }
        if limits.minSize.width <= 16, limits.minSize.height <= 16 {
            limits.minSize = VideoSize(width: 256, height: 128)
        }
    }
}

extension DeviceLimits {
    /// Workarounds for HEVC apply; those of another codec have a condition of their own.
    fileprivate var isHEVC: Bool { if case .hevc = coding { true } else { false } }
}
