package import CLibAV
internal import Glibc
package import VideoBase

/// Loads FFmpeg's libraries on demand, and converts their errors to `VaencError`.
package enum LibAV {
    /// The libraries that are needed. libavutil is always loaded with them.
    package struct Parts: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        package static let scale = Parts(rawValue: 1)
        package static let codec = Parts(rawValue: 2)
        package static let format = Parts(rawValue: 4)
        package static let resample = Parts(rawValue: 8)
        package static let filter = Parts(rawValue: 16)
        package static let device = Parts(rawValue: 32)

        /// Each part with its library's name. A library comes before the libraries that it loads.
        static let names: [(part: Parts, name: String)] = [
            (.device, "avdevice"), (.filter, "avfilter"), (.format, "avformat"), (.codec, "avcodec"),
            (.resample, "swresample"), (.scale, "swscale"),
        ]
    }

    /// Returns the functions of the requested libraries. Loads the libraries that are not loaded yet.
    /// - Throws: `unavailable` with the Debian package to install; another error if the loader lacks memory or file
    ///   descriptors.
    package static func load(_ parts: Parts) throws(VaencError) -> UnsafePointer<VaencLibAV> {
        // SAFETY: the text is written with its terminating zero inside the given size. The table is static.
        var text = [CChar](repeating: 0, count: 256)
        if let table = unsafe vaenc_libav(parts.rawValue, &text, text.count) { return unsafe table }
        throw loadError(string(text), parts)
    }

    /// Returns the error for libraries that cannot be loaded.
    ///
    /// - Parameter loaded: The loader's message.
    package static func loadError(_ loaded: String, _ parts: Parts) -> VaencError {
        // The loader's message names the missing library.
        let asked = Parts.names.filter { parts.contains($0.part) }
        let (part, name) = asked.first { loaded.contains("lib\($0.name)") } ?? asked.first ?? (.codec, "avcodec")
        // In this case no library is missing.
        if let lack = VaencError.loaderLack(loaded, "to load FFmpeg's lib\(name)") { return lack }
        return VaencError(
            .unavailable, "FFmpeg's lib\(name) cannot be loaded (\(loaded))",
            remedy: "install the package lib\(name)\(vaenc_libav_major(part.rawValue))")
    }

    /// Takes the last error that libav logged, for use in an error's message; nil if it logged none.
    package static func takeLog() -> String? {
        var text = [CChar](repeating: 0, count: 256)
        // SAFETY: the text is written with its terminating zero inside the given size.
        return unsafe vaenc_libav_take_log(&text, text.count) ? string(text) : nil
    }

    /// Whether libav logged an error that contains `words` on this thread. Only the last lines are kept.
    package static func hasLogged(_ words: String) -> Bool { unsafe vaenc_libav_has_logged(words) }

    /// Returns the stream and the decoding time of the first packet that libavformat called corrupt on this thread
    /// since the last call; nil if there is none.
    package static func takeCorruptPacket() -> (stream: Int, dts: Int64)? {
        var (stream, dts): (Int32, Int64) = (0, 0)
        return unsafe vaenc_libav_take_corrupt(&stream, &dts) ? (Int(stream), dts) : nil
    }

    /// Returns the last line that libav logged, or libav's text for the error code if it logged none.
    package static func message(_ code: Int32, _ av: UnsafePointer<VaencLibAV>) -> String {
        if let logged = takeLog() { return logged }
        var text = [CChar](repeating: 0, count: 128)
        // SAFETY: the text is written with its terminating zero inside the given size.
        _ = unsafe av.pointee.av_strerror!(code, &text, text.count)
        return string(text)
    }

    /// Returns the last line that libav logged on this thread, or libav's text for the error code. Use it if other
    /// threads may decode at the same time.
    package static func ownMessage(_ code: Int32, _ av: UnsafePointer<VaencLibAV>) -> String {
        var text = [CChar](repeating: 0, count: 256)
        // SAFETY: the text is written with its terminating zero inside the given size.
        if unsafe !vaenc_libav_take_own_log(&text, text.count) {
            _ = unsafe av.pointee.av_strerror!(code, &text, text.count)
        }
        return string(text)
    }

    /// Whether an error code means that memory ran out.
    package static func isNoMemory(_ code: Int32) -> Bool { vaenc_errno_of(code) == ENOMEM }

    /// Whether the text of an error means that memory ran out. Sometimes only the text contains this information.
    package static func isNoMemory(_ words: String) -> Bool {
        // libavcodec logs the last of these texts if it cannot allocate a picture.
        ["Cannot allocate memory", "Out of memory", "get_buffer() failed"].contains { words.contains($0) }
    }

    /// Decodes a C string up to its terminating zero.
    package static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
