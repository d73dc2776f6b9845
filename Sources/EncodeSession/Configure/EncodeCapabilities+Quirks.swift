import VAAPI
import VideoBase

extension EncodeCapabilities {
    /// Corrects missing or wrong answers of a driver. `DriverQuirk` explains each of them.
    ///
    /// - Parameter driver: The driver's vendor string.
    mutating func correct(for driver: String) {
        if DriverQuirk.mapsAfterSurfaceSync.affects(driver) { mapsAfterSurfaceSync = true }
        if DriverQuirk.referencesAreUnion.affects(driver) {
            // If both lists are reported with the same length, that is the total: more references corrupt the pictures.
            let isUnion = maxReferences0 == maxReferences1
            if isUnion {
                maxStored = max(maxReferences0, 1)
            } else if entryPoint == .encodeSliceLowPower || maxReferences0 <= 3 {
                maxStored = max(maxReferences0 + maxReferences1, 1)
            }
        }
        if DriverQuirk.minimumIsUnreported.affects(driver), isHEVC, entryPoint == .encodeSliceLowPower,
            minSize.width < 128 || minSize.height < 128
        {
            minSize = VideoSize(width: 128, height: 128)
        }
        if DriverQuirk.threeQualityLevels.affects(driver), isHEVC, quality == .levels(count: 7) { quality = .threeOfSeven }
        if DriverQuirk.rewritesParameterSets.affects(driver) { rewritesParameterSets = true }
        if DriverQuirk.ownHEVCSlices.affects(driver), isHEVC { sliceStructure = .equalRows }
        // vaenc then inserts all messages after the encode.
        if DriverQuirk.rawDataAlone.affects(driver), isHEVC { packedHeaders.remove(.rawData) }
        if DriverQuirk.noSliceHeaders.affects(driver), !takesSliceHeaders {
            reportsStatus = false
            hasOneQP = true
            maxStored = 1
        }
        if DriverQuirk.smallMinimum.affects(driver), minSize.width <= 16, minSize.height <= 16 {
            minSize = VideoSize(width: 256, height: 128)
        }
    }

    private var isHEVC: Bool {
        switch coding {
        case .h264: false
        case .hevc: true
        }
    }
}
