import CV4L2
import VideoBase

/// A configured camera: its format, its rate and its buffers.
struct StreamSetup {
    var info: CaptureInfo
    var buffers: CameraBuffers

    /// Opens the camera and configures it, in the order that V4L2 requires.
    init(_ path: String, _ request: CaptureRequest) throws(VaencError) {
        let node = try VideoNode.reading(path)
        guard let device = try node.identify() else {
            throw VaencError(
                .badInput, "\(path) does not capture video", remedy: "`CaptureDevices.all()` lists the cameras")
        }
        if let why = device.why {
            throw VaencError(.unavailable, "the camera \(path) cannot be used: \(why)", remedy: "use another camera")
        }
        if let input = request.input { try Self.choose(input, node) }
        let choice = try FormatChoice(node.formats, request, name: path)
        let format = try Self.setFormat(choice, for: request, on: node)
        guard let layout = choice.format.layout else {
            throw VaencError(.internalFault, "a format without a layout was chosen")
        }
        var info = CaptureInfo(
            path: path, layout: layout, size: VideoSize(width: Int(format.width), height: Int(format.height)))
        (info.name, info.driver, info.bus) = (device.name, device.driver, device.bus)
        info.isConverted = choice.format.isEmulated
        info.color = ColorDescription(format, layout: layout)
        info.frameRate = Self.setRate(request.frameRate ?? choice.rate ?? Rational(30), node) ?? choice.rate
        var frameLayout: FrameLayout?
        if case .raw(let pixels) = layout {
            let found = FrameLayout(pixels, size: info.size, pitch: Int(format.bytesperline))
            guard found.isValid else {
                throw VaencError(
                    .deviceFailed,
                    "the camera \(path) reports a row of \(format.bytesperline) bytes for \(info.size), which is "
                        + "invalid",
                    remedy: "use another `CaptureRequest.layout`")
            }
            frameLayout = found
        }
        // An encoder may hold buffers to read pictures in place. With `.keep`, late pictures wait in buffers too.
        buffers = try CameraBuffers(node, count: request.lateFrames == .keep ? 24 : 12, layout: frameLayout)
        if let byteCount = frameLayout?.byteCount, unsafe buffers.mappings.contains(where: { $0.count < byteCount }) {
            throw VaencError(
                .deviceFailed, "the buffers of the camera \(path) are too small for \(info.size)",
                remedy: "use another `CaptureRequest.size` or `CaptureRequest.layout`")
        }
        info.buffers = buffers.count
        info.exportsBuffers = !buffers.exported.isEmpty
        self.info = info
    }

    private static func choose(_ input: Int, _ node: VideoNode) throws(VaencError) {
        var index = Int32(clamping: input)
        let code = node.call(vaenc_VIDIOC_S_INPUT(), &index)
        if code == 0 { return }
        let inputs = node.inputs
        guard !inputs.contains(where: { $0.index == input }) else { throw node.failure("VIDIOC_S_INPUT", code) }
        throw VaencError(
            .unavailable, "the camera \(node.path) has no input \(input)",
            remedy: inputs.isEmpty
                ? "leave out `CaptureRequest.input`" : "use one of " + inputs.map { "\($0.index) (\($0.name))" }.joined(separator: ", "))
    }

    private static func setFormat(
        _ choice: FormatChoice, for request: CaptureRequest, on node: VideoNode
    ) throws(VaencError) -> v4l2_pix_format {
        var format = unsafe v4l2_format()
        unsafe format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        let size = choice.size ?? request.size ?? VideoSize(width: 1280, height: 720)
        let requestedFormat = FourCC.number(choice.format.fourCC)
        unsafe format.fmt.pix.width = UInt32(clamping: size.width)
        unsafe format.fmt.pix.height = UInt32(clamping: size.height)
        unsafe format.fmt.pix.pixelformat = requestedFormat
        unsafe format.fmt.pix.field = V4L2_FIELD_ANY.rawValue
        unsafe try node.demand("VIDIOC_S_FMT", request: vaenc_VIDIOC_S_FMT(), value: &format)
        let pix = unsafe format.fmt.pix
        guard pix.pixelformat == requestedFormat,
            VideoSize(width: Int(pix.width), height: Int(pix.height)).isWithinLimits
        else {
            // libv4l2 also lists formats that it could convert from formats the camera does not have.
            throw VaencError(
                choice.format.isEmulated ? .unavailable : .deviceFailed,
                "the camera \(node.path) lists \(choice.format.fourCC), but delivers \(FourCC.text(pix.pixelformat)) "
                    + "\(pix.width)×\(pix.height)",
                remedy: "use another `CaptureRequest.layout`")
        }
        return pix
    }

    /// Sets the rate, and returns the rate that the driver uses; nil if the driver has no rate.
    private static func setRate(_ rate: Rational, _ node: VideoNode) -> Rational? {
        var parameters = v4l2_streamparm()
        parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        unsafe parameters.parm.capture.timeperframe = v4l2_fract(
            numerator: UInt32(clamping: rate.denominator), denominator: UInt32(clamping: rate.numerator))
        if node.call(vaenc_VIDIOC_S_PARM(), &parameters) != 0, node.call(vaenc_VIDIOC_G_PARM(), &parameters) != 0 { return nil }
        return unsafe Rational(interval: parameters.parm.capture.timeperframe)
    }
}
