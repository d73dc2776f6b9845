internal import Glibc

/// The real clips that scripts/fetch-fixtures.sh downloads.
public enum Fixture: String, Sendable, CaseIterable {
    /// 1280×720, 25 frames/s, 132 frames, with audio.
    case bigBuckBunny = "bigbuckbunny.mp4"
    /// 640×272, 25 frames/s, 250 frames.
    case bikes = "bikes.mp4"
    /// 176×144, 30000/1001 frames/s, 120 frames.
    case carphone = "carphone_pristine.mp4"

    /// A clip that could not be fetched or converted.
    public struct Missing: Error, CustomStringConvertible {
        /// The error text of the program that failed.
        public var description: String
    }

    /// The width in pixels.
    public var width: Int {
        switch self {
        case .bigBuckBunny: 1280
        case .bikes: 640
        case .carphone: 176
        }
    }

    /// The height in pixels.
    public var height: Int {
        switch self {
        case .bigBuckBunny: 720
        case .bikes: 272
        case .carphone: 144
        }
    }

    /// The number of frames.
    public var frameCount: Int {
        switch self {
        case .bigBuckBunny: 132
        case .bikes: 250
        case .carphone: 120
        }
    }

    /// The folder of the clips and of files made from them: VAENC_FIXTURES, or .build/fixtures of this checkout.
    public static var folder: String {
        if let path = unsafe getenv("VAENC_FIXTURES") { return unsafe String(cString: path) }
        return Checkout.root + "/.build/fixtures"
    }

    /// Returns the clip's path. Fetches the clips if they are missing.
    ///
    /// - Throws: `Missing` if the clips cannot be fetched.
    public func path() throws -> String {
        let path = Self.folder + "/" + rawValue
        if unsafe access(path, R_OK) == 0 { return path }
        let fetch = try ProcessRunner.run(Checkout.root + "/scripts/fetch-fixtures.sh", [Self.folder], timeout: 300)
        guard fetch.status == 0 else { throw Missing(description: fetch.errors) }
        return path
    }

    /// Returns the path of a raw I420 file with the clip's first `frames` frames (nil for all), scaled if a size is
    /// given. ffmpeg creates the file once.
    ///
    /// - Throws: `Missing` if ffmpeg fails.
    public func rawPath(width: Int? = nil, height: Int? = nil, frames: Int? = nil) throws -> String {
        let width = width ?? self.width
        let height = height ?? self.height
        let frames = frames ?? frameCount
        let name = rawValue.split(separator: ".")[0]
        let path = "\(Self.folder)/\(name)-\(width)x\(height)-\(frames).yuv"
        let expected = PlanarFrame.byteCount(width: width, height: height) * frames
        if Files.size(path) == expected { return path }
        let part = "\(path).\(getpid()).\(UInt32.random(in: 0...UInt32.max)).part"
        let result = try ProcessRunner.run(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", try self.path(), "-frames:v", "\(frames)", "-vf",
                "scale=\(width):\(height):flags=bicubic+accurate_rnd+bitexact", "-pix_fmt", "yuv420p", "-vsync", "0",
                "-f", "rawvideo", "-y", part,
            ])
        guard result.status == 0, Files.size(part) == expected else {
            unsafe unlink(part)
            throw Missing(description: "ffmpeg could not make \(path): \(result.errors)")
        }
        unsafe rename(part, path)
        return path
    }

    /// Returns the clip's first `frames` frames (nil for all), scaled if a size is given.
    public func frames(_ frames: Int? = nil, width: Int? = nil, height: Int? = nil) throws -> [PlanarFrame] {
        let bytes = try Files.read(rawPath(width: width, height: height, frames: frames))
        return PlanarFrame.split(bytes, width: width ?? self.width, height: height ?? self.height) ?? []
    }
}

/// Paths of this checkout and of its build.
public enum Checkout {
    /// The folder that holds Package.swift.
    public static let root: String = {
        // The file is Tests/TestOracles/Fixture.swift, or Benchmarks/Sources/TestOracles/Fixture.swift through a link.
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        if parts.last == "Benchmarks" { parts.removeLast() }
        return parts.joined(separator: "/")
    }()

    /// The folder with the programs and drivers just built: VAENC_BUILD, or the folder of this program.
    public static let buildFolder: String = {
        if let path = unsafe getenv("VAENC_BUILD") { return unsafe String(cString: path) }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let path = String(decoding: buffer[..<max(count, 0)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }()

    /// The path of the command line program.
    public static var vaenc: String { buildFolder + "/vaenc" }
    /// The folder with the drivers: VAENC_DRIVER_DIR, which vaenc uses too, or the build folder.
    public static let driverFolder: String = {
        guard let path = unsafe getenv("VAENC_DRIVER_DIR") else { return buildFolder }
        return unsafe String(cString: path)
    }()
    /// The path of the driver.
    public static var driver: String { driverFolder + "/libvaenc_drv_video.so" }
    /// LIBVA_DRIVERS_PATH and LIBVA_DRIVER_NAME with which libva finds the driver.
    public static var driverEnvironment: [String: String?] {
        ["LIBVA_DRIVERS_PATH": driverFolder, "LIBVA_DRIVER_NAME": "libvaenc"]
    }
}

/// File operations for tests.
public enum Files {
    /// A file that could not be read or written.
    public struct Failure: Error, CustomStringConvertible {
        /// The operation and the path.
        public var description: String
    }

    /// Returns the size of a file in bytes; nil if the file does not exist.
    public static func size(_ path: String) -> Int? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Returns whether a file exists.
    public static func exists(_ path: String) -> Bool { size(path) != nil }

    /// Returns the contents of a file. Also reads files of /proc, which report size 0.
    ///
    /// - Throws: `Failure` if the file cannot be opened.
    public static func read(_ path: String) throws -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0, let size = size(path) else { throw Failure(description: "cannot read \(path)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        let step = max(size + 1, 65536)
        while true {
            // SAFETY: the buffer has room for `step` bytes, and read writes at most that many.
            let part = unsafe [UInt8](unsafeUninitializedCapacity: step) { buffer, count in
                count = max(unsafe Glibc.read(descriptor, buffer.baseAddress, step), 0)
            }
            if part.isEmpty { return bytes }
            if bytes.isEmpty { bytes = part } else { bytes += part }
        }
    }

    /// Creates or replaces a file.
    ///
    /// - Throws: `Failure` if the file cannot be created or written.
    public static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Failure(description: "cannot create \(path)") }
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            // SAFETY: write reads only the bytes from `done` to the end of the array.
            let wrote = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done)
            }
            guard wrote > 0 else { throw Failure(description: "cannot write \(path)") }
            done += wrote
        }
    }

    /// Returns the names in a folder, sorted; empty if it cannot be read.
    public static func list(_ folder: String) -> [String] {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            // SAFETY: d_name ends in a zero inside the entry, which is valid until the next readdir.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Calls `body` with the path of a temporary folder, and then removes the folder with its contents.
    public static func withTemporaryFolder<R>(_ body: (String) throws -> R) throws -> R {
        let path = try makeTemporaryFolder()
        defer { remove(folder: path) }
        return try body(path)
    }

    /// Calls `body` with the path of a temporary folder, and then removes the folder with its contents.
    public nonisolated(nonsending) static func withTemporaryFolder<R>(
        _ body: nonisolated(nonsending) (String) async throws -> R
    ) async throws -> R {
        let path = try makeTemporaryFolder()
        defer { remove(folder: path) }
        return try await body(path)
    }

    private static func makeTemporaryFolder() throws -> String {
        var template = Array("\(temporaryRoot)/vaenc-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw Failure(description: "cannot make a temporary folder") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static var temporaryRoot: String {
        if let path = unsafe getenv("TMPDIR") { return unsafe String(cString: path) }
        return "/tmp"
    }

    private static func remove(folder: String) {
        for name in list(folder) where unsafe unlink("\(folder)/\(name)") != 0 { remove(folder: "\(folder)/\(name)") }
        unsafe rmdir(folder)
    }
}
