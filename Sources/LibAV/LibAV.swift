package import CLibAV
internal import Glibc
package import VideoBase

/// FFmpeg's libraries: loaded on demand, their errors turned into vaenc's.
package enum LibAV {
    /// Which libraries are needed; libavutil comes with each.
    package struct Parts: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        package static let scale = Parts(rawValue: 1)
        package static let codec = Parts(rawValue: 2)
        package static let format = Parts(rawValue: 4)
        package static let resample = Parts(rawValue: 8)
        package static let filter = Parts(rawValue: 16)
        package static let device = Parts(rawValue: 32)

        /// Each with its library's name, those that bring others along first.
        static let names: [(part: Parts, name: String)] = [
            (.device, "avdevice"), (.filter, "avfilter"), (.format, "avformat"), (.codec, "avcodec"),
            (.resample, "swresample"), (.scale, "swscale"),
        ]
    }

    /// The functions of the libraries asked for, loading them where that has not been done.
    /// - Throws: `unavailable` with the Debian package to install.
    package static func load(_ parts: Parts) throws(VaencError) -> UnsafePointer<VaencLibAV> {
        // SAFETY: the text is written with its terminating zero inside the given size; the table is static.
        var text = [CChar](repeating: 0, count: 256)
        if let table = unsafe vaenc_libav(parts.rawValue, &text, text.count) { return unsafe table }
        throw loadError(string(text), parts)
    }

    /// The error of libraries that cannot be loaded.
    ///
    /// - Parameter loaded: the loader's words.
    package static func loadError(_ loaded: String, _ parts: Parts) -> VaencError {
        // The loader's words name the library that is missing.
        let asked = Parts.names.filter { parts.contains($0.part) }
        let (part, name) = asked.first { loaded.contains("lib\($0.name)") } ?? asked.first ?? (.codec, "avcodec")
        // Nothing is missing then.
        if let lack = VaencError.loaderLack(loaded, "to load FFmpeg's lib\(name)") { return lack }
        return VaencError(
            .unavailable, "FFmpeg's lib\(name) cannot be loaded (\(loaded))",
            remedy: "install the package lib\(name)\(vaenc_libav_major(part.rawValue))")
    }

    /// The last error that libav logged, for the message of an error; nil where it said nothing.
    package static func takeLog() -> String? {
        var text = [CChar](repeating: 0, count: 256)
        // SAFETY: as above.
        return unsafe vaenc_libav_take_log(&text, text.count) ? string(text) : nil
    }

    /// Whether a line of libav's log names an option of the program ffmpeg. Such lines are not kept.
    package static func namesOption(_ line: String) -> Bool { unsafe vaenc_libav_names_option(line) }

    /// Whether libav has logged an error with these words on this thread, as far back as lines are kept.
    package static func hasLogged(_ words: String) -> Bool { unsafe vaenc_libav_has_logged(words) }

    /// libav's words for an error code, the logged line first where there is one.
    package static func message(_ code: Int32, _ av: UnsafePointer<VaencLibAV>) -> String {
        if let logged = takeLog() { return logged }
        var text = [CChar](repeating: 0, count: 128)
        // SAFETY: as above.
        _ = unsafe av.pointee.av_strerror!(code, &text, text.count)
        return string(text)
    }

    /// The same with a line that was logged on this thread alone: other threads may decode meanwhile.
    package static func ownMessage(_ code: Int32, _ av: UnsafePointer<VaencLibAV>) -> String {
        var text = [CChar](repeating: 0, count: 256)
        // SAFETY: as above.
        if unsafe !vaenc_libav_take_own_log(&text, text.count) {
            _ = unsafe av.pointee.av_strerror!(code, &text, text.count)
        }
        return string(text)
    }

    /// Whether an error code says that memory ran out.
    package static func isNoMemory(_ code: Int32) -> Bool { vaenc_errno_of(code) == ENOMEM }

    /// Whether libav's words for an error say so: they may be all that is left of it.
    package static func isNoMemory(_ words: String) -> Bool {
        // libavcodec says the last of a picture that it has no room for.
        ["Cannot allocate memory", "Out of memory", "get_buffer() failed"].contains { words.contains($0) }
    }

    package static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
