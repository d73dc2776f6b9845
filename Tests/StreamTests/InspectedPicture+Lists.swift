import BitstreamInspection

extension InspectedPicture {
    /// The maximum number of distinct pictures in list 0 of a slice.
    var referencesInList0: Int {
        let lists: [[Int?]] =
            switch self {
            case let frame as H264Frame: frame.slices.map { $0.lists[0] }
            case let frame as HEVCFrame: frame.slices.map { $0.lists[0] }
            default: []
            }
        return lists.map { Set($0.compactMap(\.self)).count }.max() ?? 0
    }

    /// Whether the picture has a picture timing SEI message, which annex C requires if there are HRD parameters.
    var hasPictureTiming: Bool {
        switch self {
        case let frame as H264Frame: frame.pictureTiming != nil
        case let frame as HEVCFrame: frame.pictureTiming != nil
        default: false
        }
    }
}
