/// A VAConfigAttribType, identified by its number. Types that are newer than the installed header can therefore be
/// read.
package struct AttributeType: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let rtFormat = AttributeType(rawValue: 0)
    package static let rateControl = AttributeType(rawValue: 5)
    package static let encPackedHeaders = AttributeType(rawValue: 10)
    package static let encMaxRefFrames = AttributeType(rawValue: 13)
    package static let encMaxSlices = AttributeType(rawValue: 14)
    package static let encSliceStructure = AttributeType(rawValue: 15)
    package static let maxPictureWidth = AttributeType(rawValue: 18)
    package static let maxPictureHeight = AttributeType(rawValue: 19)
    package static let encQualityRange = AttributeType(rawValue: 21)
    package static let encQuantization = AttributeType(rawValue: 22)
    package static let encIntraRefresh = AttributeType(rawValue: 23)
    package static let encROI = AttributeType(rawValue: 25)
    package static let maxFrameSize = AttributeType(rawValue: 38)
    package static let predictionDirection = AttributeType(rawValue: 39)
    package static let encHEVCFeatures = AttributeType(rawValue: 50)
    package static let encHEVCBlockSizes = AttributeType(rawValue: 51)

    /// The value of an attribute that does not apply: VA_ATTRIB_NOT_SUPPORTED.
    static let notSupported: UInt32 = 0x8000_0000

    /// The number of attribute types that are queried. It covers VA-API 1.23 and leaves room for later versions.
    static let queried: UInt32 = 64

    /// The constant's name in `va.h`, or a text like `VAConfigAttrib(61)` for an unknown number.
    package var name: String { shortName.hasPrefix("(") ? "VAConfigAttrib\(shortName)" : "VAConfigAttrib" + shortName }

    /// The name without its `VAConfigAttrib` prefix: `RateControl`.
    package var shortName: String { Self.names[rawValue] ?? "(\(rawValue))" }

    package var description: String { name }

    private static let names: [UInt32: String] = [
        0: "RTFormat", 1: "SpatialResidual", 2: "SpatialClipping", 3: "IntraResidual", 4: "Encryption",
        5: "RateControl", 6: "DecSliceMode", 7: "DecJPEG", 8: "DecProcessing", 10: "EncPackedHeaders",
        11: "EncInterlaced", 13: "EncMaxRefFrames", 14: "EncMaxSlices", 15: "EncSliceStructure",
        16: "EncMacroblockInfo", 18: "MaxPictureWidth", 19: "MaxPictureHeight", 20: "EncJPEG",
        21: "EncQualityRange", 22: "EncQuantization", 23: "EncIntraRefresh", 24: "EncSkipFrame", 25: "EncROI",
        26: "EncRateControlExt", 27: "ProcessingRate", 28: "EncDirtyRect", 29: "EncParallelRateControl",
        30: "EncDynamicScaling", 31: "FrameSizeToleranceSupport", 32: "FEIFunctionType", 33: "FEIMVPredictors",
        34: "Stats", 35: "EncTileSupport", 36: "CustomRoundingControl", 37: "QPBlockSize", 38: "MaxFrameSize",
        39: "PredictionDirection", 40: "MultipleFrame", 41: "ContextPriority", 42: "DecAV1Features", 43: "TEEType",
        44: "TEETypeClient", 45: "ProtectedContentCipherAlgorithm", 46: "ProtectedContentCipherBlockSize",
        47: "ProtectedContentCipherMode", 48: "ProtectedContentCipherSampleType", 49: "ProtectedContentUsage",
        50: "EncHEVCFeatures", 51: "EncHEVCBlockSizes", 52: "EncAV1", 53: "EncAV1Ext1", 54: "EncAV1Ext2",
        55: "EncPerBlockControl", 56: "EncMaxTileRows", 57: "EncMaxTileCols", 58: "EncVP9",
    ]
}
