import CLibAV
import LibAV
import NALUnits
import VideoBase

extension MediaTrack {
    /// The container's description of an encoder's stream.
    struct Encoded {
        var codec: VideoCodec
        var size: VideoSize
        var frameRate: Rational
        /// The bits per sample.
        var bitDepth: Int
        /// The avcC or hvcC record; empty if the stream contains the parameter sets.
        var extradata: [UInt8]
        /// The sample entry `hvc1` or `hev1`; nil for containers without these.
        var sampleEntry: HEVCSampleEntry?
        var color: ColorDescription
        var masteringDisplay: MasteringDisplay?
        var contentLight: ContentLight?
        var sampleAspectRatio: Rational?
        /// The nine numbers of the matrix, or none.
        var displayMatrix: [Int32] = []
    }

    convenience init(_ encoded: Encoded) throws {
        let av = unsafe try LibAV.load([.codec, .format])
        unsafe try self.init(av) { unsafe encoded.describe($0, av) }
    }
}

extension MediaTrack.Encoded {
    /// Writes the description to a stream. Returns false if there is no memory.
    fileprivate func describe(_ stream: UnsafeMutablePointer<AVStream>, _ av: UnsafePointer<VaencLibAV>) -> Bool {
        let parameters = unsafe stream.pointee.codecpar!
        unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters.pointee.codec_id = codec.libavcodecID
        if codec.samplesMayHaveParameterSets, let sampleEntry {
            unsafe parameters.pointee.codec_tag = sampleEntry.tag
        }
        unsafe parameters.pointee.width = Int32(clamping: size.width)
        unsafe parameters.pointee.height = Int32(clamping: size.height)
        let format = bitDepth > 8 ? AV_PIX_FMT_YUV420P10LE : AV_PIX_FMT_YUV420P
        unsafe parameters.pointee.format = format.rawValue
        unsafe parameters.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(clamping: color.primaries))
        unsafe parameters.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(clamping: color.transfer))
        unsafe parameters.pointee.color_space = AVColorSpace(rawValue: UInt32(clamping: color.matrix))
        unsafe parameters.pointee.color_range =
            color.fullRange.map { $0 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG } ?? AVCOL_RANGE_UNSPECIFIED
        if let sampleAspectRatio {
            unsafe parameters.pointee.sample_aspect_ratio = AVRational(sampleAspectRatio)
            unsafe stream.pointee.sample_aspect_ratio = AVRational(sampleAspectRatio)
        }
        unsafe stream.pointee.avg_frame_rate = AVRational(frameRate)
        if let masteringDisplay {
            guard unsafe vaenc_set_mastering_display(av, stream, VaencMasteringDisplay(masteringDisplay)) else { return false }
        }
        if let contentLight {
            let (content, average) = (contentLight.maxContentLight, contentLight.maxFrameAverageLight)
            guard unsafe vaenc_set_content_light(av, stream, UInt32(clamping: content), UInt32(clamping: average)) else { return false }
        }
        if displayMatrix.count == 9 {
            guard let memory = unsafe vaenc_new_side_data(av, stream, AV_PKT_DATA_DISPLAYMATRIX, 36) else { return false }
            // SAFETY: the memory has 36 bytes.
            unsafe displayMatrix.withUnsafeBytes { unsafe memory.copyMemory(from: $0.baseAddress!, byteCount: 36) }
        }
        return unsafe extradata.isEmpty || MediaTrack.setExtradata(extradata, of: stream, av)
    }
}

extension AVRational {
    init(_ value: Rational) {
        let reduced = value.reduced
        self.init(num: Int32(clamping: reduced.numerator), den: Int32(clamping: reduced.denominator))
    }
}
