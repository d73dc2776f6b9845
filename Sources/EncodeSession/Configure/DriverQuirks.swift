import VideoBase

/// What drivers leave unsaid or say wrong, by the name that they give themselves.
enum DriverQuirks {
    /// Mesa's driver for AMD.
    static func isRadeon(_ driver: String) -> Bool { driver.contains("radeonsi") || driver.contains("Mesa Gallium") }

    /// Corrects what a driver answered.
    static func apply(to limits: inout DeviceLimits, driver: String) {
        if driver.contains("iHD") {
            limits.mapsAfterSurfaceSync = true
            // The low-power hardware has as many references as its lists, and where both lists are said to have three
            // it is three in all: more corrupt the pictures.
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
            // What newer versions answer for the same hardware.
            limits.minSize = VideoSize(width: 128, height: 128)
        }
        if driver.contains("iHD"), limits.isHEVC, limits.quality == .levels(count: 7) {
            limits.quality = .threeOfSeven
        }
        guard isRadeon(driver) else { return }
        // Mesa 25 parses parameter sets and slice headers and writes them anew, with other numbers (pic_init_qp 26).
        limits.rewritesParameterSets = true
        if limits.isHEVC {
            // Slices of other shapes are made anew by the driver, at other places than our headers say.
            limits.sliceStructure = .equalRows
            // Mesa 25 fails pictures with a packed message before their slices and nothing else: all are put in later.
            limits.packedHeaders.remove(.rawData)
        }
        // The versions that take no slice headers (22.3, 24.0) leave VACodedBufferSegment.status unset, take one QP
        // for all pictures from the first one's pic_init_qp, and do not say what the hardware's smallest size is.
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
