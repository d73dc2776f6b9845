import CLibAV
import LibAV
import VideoBase

/// Combines the two fields of each interlaced picture into one progressive picture, with libavfilter's bwdif.
/// Progressive pictures pass unchanged. The output is delayed by one picture. Only one thread may use it at a time.
@safe final class Deinterlacer {
    // SAFETY: the graph and its filters are created in `init`, freed in `deinit`, and used only by this object's
    // methods.
    private let av: UnsafePointer<VaencLibAV>
    private var graph: UnsafeMutablePointer<AVFilterGraph>?
    private var source: UnsafeMutablePointer<AVFilterContext>?
    private var sink: UnsafeMutablePointer<AVFilterContext>?
    /// The picture that `pull` returned.
    private(set) var frame: UnsafeMutablePointer<AVFrame>?
    private var hasEnded = false

    /// Creates the filters for pictures like `frame`, with times in `timeBase`.
    /// - Throws: `unavailable` if libavfilter or bwdif is missing; an error if there is no memory.
    init(like frame: UnsafePointer<AVFrame>, timeBase: Rational) throws {
        let av = unsafe try LibAV.load([.filter, .codec])
        unsafe self.av = unsafe av
        unsafe graph = av.pointee.avfilter_graph_alloc!()
        unsafe self.frame = av.pointee.av_frame_alloc!()
        guard let graph = unsafe graph, unsafe self.frame != nil else { throw VaencError.noMemory("to deinterlace") }
        let (num, den) = unsafe (frame.pointee.sample_aspect_ratio.num, max(frame.pointee.sample_aspect_ratio.den, 1))
        let shape =
            unsafe "video_size=\(frame.pointee.width)x\(frame.pointee.height):pix_fmt=\(frame.pointee.format)"
            + ":time_base=\(timeBase.numerator)/\(timeBase.denominator):pixel_aspect=\(num)/\(den)"
        var filter: UnsafeMutablePointer<AVFilterContext>?
        func add(_ name: String, options: String?, context: inout UnsafeMutablePointer<AVFilterContext>?) -> Int32 {
            unsafe av.pointee.avfilter_graph_create_filter!(
                &context, av.pointee.avfilter_get_by_name!(name), name, options, nil, graph)
        }
        _ = LibAV.takeLog()
        var code = unsafe add("buffer", options: shape, context: &source)
        if code >= 0 {
            code = unsafe add("bwdif", options: "mode=send_frame:parity=auto:deint=interlaced", context: &filter)
        }
        if code >= 0 { code = unsafe add("buffersink", options: nil, context: &sink) }
        if code >= 0 { code = unsafe av.pointee.avfilter_link!(source!, 0, filter!, 0) }
        if code >= 0 { code = unsafe av.pointee.avfilter_link!(filter!, 0, sink!, 0) }
        if code >= 0 { code = unsafe av.pointee.avfilter_graph_config!(graph, nil) }
        if code < 0 {
            throw VaencError(.unavailable, "the pictures cannot be deinterlaced (\(unsafe LibAV.message(code, av)))")
        }
    }

    deinit {
        unsafe av.pointee.avfilter_graph_free!(&graph)
        unsafe av.pointee.av_frame_free!(&frame)
    }

    /// Sends a picture, of which the caller keeps its own reference; nil is the end. Returns false if the filter
    /// rejects the picture.
    func push(_ fields: UnsafePointer<AVFrame>?) -> Bool {
        guard let fields = unsafe fields else {
            if hasEnded { return true }
            hasEnded = true
            return unsafe av.pointee.av_buffersrc_add_frame_flags!(source, nil, 0) >= 0
        }
        var clone = unsafe av.pointee.av_frame_clone!(fields)
        defer { unsafe av.pointee.av_frame_free!(&clone) }
        guard let clone = unsafe clone else { return false }
        unsafe clone.pointee.pts = fields.pointee.best_effort_timestamp
        return unsafe av.pointee.av_buffersrc_add_frame_flags!(source, clone, 0) >= 0
    }

    /// Moves the next picture into `frame`. Returns false if there is none yet.
    func pull() -> Bool {
        guard let frame = unsafe frame else { return false }
        unsafe av.pointee.av_frame_unref!(frame)
        guard unsafe av.pointee.av_buffersink_get_frame!(sink, frame) >= 0 else { return false }
        // The filter's time base is half as long, because it can also output one picture for each field.
        let time = unsafe frame.pointee.pts
        unsafe frame.pointee.best_effort_timestamp = time == vaenc_no_pts() ? time : time / 2
        return true
    }
}
