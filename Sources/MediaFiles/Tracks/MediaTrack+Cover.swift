import CLibAV
import LibAV

extension MediaTrack {
    /// The types and names that Matroska uses for attached files that libavformat reads as covers (RFC 9559 21.2).
    private static let covers = [
        "mjpeg": ("image/jpeg", "cover.jpg"), "png": ("image/png", "cover.png"), "gif": ("image/gif", "cover.gif"),
        "tiff": ("image/tiff", "cover.tiff"),
    ]

    /// Returns a cover as an attached file, as Matroska stores it: the description contains the picture, and no packet
    /// follows.
    /// - Parameter from: A file's stream with an attached picture.
    /// - Returns: nil for other picture formats, and if there is no picture.
    static func attachedCover(_ from: UnsafePointer<AVStream>, _ av: UnsafePointer<VaencLibAV>) throws -> MediaTrack? {
        let codec = unsafe String(cString: av.pointee.avcodec_get_name!(from.pointee.codecpar.pointee.codec_id)!)
        let picture = unsafe from.pointee.attached_pic
        guard let (type, name) = covers[codec], unsafe picture.data != nil, unsafe picture.size > 0 else { return nil }
        return unsafe try MediaTrack(av) { stream in
            // SAFETY: the picture's data have `size` bytes.
            let bytes = unsafe UnsafeBufferPointer(start: picture.data, count: Int(picture.size))
            guard unsafe vaenc_copy_stream(av, stream, from), unsafe setExtradata(bytes, of: stream, av) else { return false }
            unsafe stream.pointee.codecpar.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
            unsafe stream.pointee.codecpar.pointee.codec_tag = 0
            unsafe stream.pointee.disposition = 0
            return unsafe av.pointee.av_dict_set!(&stream.pointee.metadata, "mimetype", type, AV_DICT_DONT_OVERWRITE) >= 0
                && av.pointee.av_dict_set!(&stream.pointee.metadata, "filename", name, AV_DICT_DONT_OVERWRITE) >= 0
        }
    }
}
