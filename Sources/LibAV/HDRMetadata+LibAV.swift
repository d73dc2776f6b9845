package import CLibAV
package import VideoBase

/// Converts between `MasteringDisplay` and `VaencMasteringDisplay`, which holds FFmpeg's metadata in the units of SEI
/// messages.
extension VaencMasteringDisplay {
    package init(_ display: MasteringDisplay) {
        func pair(_ point: MasteringDisplay.Point) -> (UInt32, UInt32) { (UInt32(point.x), UInt32(point.y)) }
        self.init(
            points: (pair(display.red), pair(display.green), pair(display.blue), pair(display.white)),
            max_luminance: display.maxLuminance, min_luminance: display.minLuminance)
    }
}

extension MasteringDisplay {
    package init(_ display: VaencMasteringDisplay) {
        func point(_ pair: (UInt32, UInt32)) -> Point { Point(x: UInt16(clamping: pair.0), y: UInt16(clamping: pair.1)) }
        let points = display.points
        self.init(
            red: point(points.0), green: point(points.1), blue: point(points.2), white: point(points.3),
            maxLuminance: display.max_luminance, minLuminance: display.min_luminance)
    }
}
