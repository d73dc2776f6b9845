import CV4L2
import VideoBase

/// Queries of a device's capabilities.
extension VideoNode {
    private static let captureType = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue

    /// Returns the name, driver and bus of the device; nil if the node captures no pictures (metadata, output, radio).
    func identify() throws(VaencError) -> CaptureDevice? {
        var capability = v4l2_capability()
        try demand("VIDIOC_QUERYCAP", request: vaenc_VIDIOC_QUERYCAP(), value: &capability)
        let hasOwn = capability.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
        let abilities = hasOwn ? capability.device_caps : capability.capabilities
        guard abilities & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0 else { return nil }
        var device = CaptureDevice(path: path)
        device.name = text(capability.card)
        device.driver = text(capability.driver)
        device.bus = text(capability.bus_info)
        if abilities & UInt32(V4L2_CAP_STREAMING) == 0 { device.why = "it does not support streaming I/O" }
        return device
    }

    var inputs: [CaptureInput] {
        var current: Int32 = -1
        if call(vaenc_VIDIOC_G_INPUT(), &current) != 0 { current = -1 }
        var inputs: [CaptureInput] = []
        // Drivers return EINVAL after the last input. The limit protects against drivers that never do.
        for index in 0..<64 {
            var input = v4l2_input()
            input.index = UInt32(index)
            guard call(vaenc_VIDIOC_ENUMINPUT(), &input) == 0 else { break }
            inputs.append(CaptureInput(index: index, name: text(input.name), isCurrent: index == Int(current)))
        }
        return inputs
    }

    var formats: [CaptureFormat] {
        var formats: [CaptureFormat] = []
        for index in 0..<256 {
            var found = v4l2_fmtdesc()
            found.index = UInt32(index)
            found.type = Self.captureType
            guard call(vaenc_VIDIOC_ENUM_FMT(), &found) == 0 else { break }
            let fourCC = FourCC.text(found.pixelformat)
            formats.append(
                CaptureFormat(
                    fourCC: fourCC, description: text(found.description), layout: CaptureLayout(fourCC: fourCC),
                    isEmulated: found.flags & UInt32(V4L2_FMT_FLAG_EMULATED) != 0, sizes: sizes(found.pixelformat)))
        }
        return formats
    }

    private func sizes(_ format: UInt32) -> [CaptureSizes] {
        var sizes: [CaptureSizes] = []
        for index in 0..<256 {
            var found = v4l2_frmsizeenum()
            found.index = UInt32(index)
            found.pixel_format = format
            guard call(vaenc_VIDIOC_ENUM_FRAMESIZES(), &found) == 0 else { break }
            let low: VideoSize
            let high: VideoSize
            var step = VideoSize(width: 1, height: 1)
            if found.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue {
                low = VideoSize(width: Int(found.discrete.width), height: Int(found.discrete.height))
                high = low
            } else {
                let range = found.stepwise
                low = VideoSize(width: Int(range.min_width), height: Int(range.min_height))
                high = VideoSize(width: Int(range.max_width), height: Int(range.max_height))
                step = VideoSize(width: max(1, Int(range.step_width)), height: max(1, Int(range.step_height)))
            }
            guard low.isWithinLimits, high.width >= low.width, high.height >= low.height else { continue }
            let (rates, isRange) = rates(format, high)
            sizes.append(CaptureSizes(smallest: low, largest: high, step: step, rates: rates, ratesAreRange: isRange))
            if low != high { break }
        }
        return sizes
    }

    private func rates(_ format: UInt32, _ size: VideoSize) -> (rates: [Rational], isRange: Bool) {
        var rates: [Rational] = []
        for index in 0..<256 {
            var found = v4l2_frmivalenum()
            found.index = UInt32(index)
            found.pixel_format = format
            found.width = UInt32(size.width)
            found.height = UInt32(size.height)
            guard call(vaenc_VIDIOC_ENUM_FRAMEINTERVALS(), &found) == 0 else { break }
            guard found.type == V4L2_FRMIVAL_TYPE_DISCRETE.rawValue else {
                let ends = [Rational(interval: found.stepwise.min), Rational(interval: found.stepwise.max)]
                return (ends.compactMap { $0 }, true)
            }
            if let rate = Rational(interval: found.discrete) { rates.append(rate) }
        }
        return (rates.sorted { $0.value > $1.value }, false)
    }
}

extension Rational {
    /// Creates the frame rate, in frames per second, for a frame interval; nil for an invalid interval.
    init?(interval: v4l2_fract) {
        guard interval.numerator > 0, interval.denominator > 0 else { return nil }
        self = Rational(Int(interval.denominator), Int(interval.numerator)).reduced
    }
}
