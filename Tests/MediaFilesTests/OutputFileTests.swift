import Glibc
import Testing
import TestOracles
import VideoBase

@testable import MediaFiles

@Suite struct OutputFileTests {
    private func packet(_ bytes: [UInt8], _ index: Int = 0) -> EncodedPacket {
        EncodedPacket(
            codec: .h264, bytes: bytes, type: index == 0 ? .idr : .p, presentation: MediaTime(value: Int64(index), timescale: 25),
            decode: MediaTime(value: Int64(index), timescale: 25), displayIndex: index, codingIndex: index)
    }

    @Test func fileGetsItsNameWhenFinished() throws {
        try Files.withTemporaryFolder { folder in
            let sink = try MediaOutput.open("\(folder)/a.h264")
            let parts = [[0, 0, 0, 1, 9], noise(100), noise(1_000_000), noise(3)]
            for part in parts { try sink.write(packet(part)) }
            #expect(Files.list(folder) == ["a.h264.part"])
            #expect(sink.bytesWritten == 1_000_108)
            try sink.finish()
            #expect(Files.list(folder) == ["a.h264"])
            #expect(try Files.read("\(folder)/a.h264") == parts.flatMap(\.self))
            sink.cancel()
            #expect(Files.list(folder) == ["a.h264"])
        }
    }

    @Test func emptyNamesAreRefused() {
        var options = SinkOptions()
        options.format = .mp4
        for error in [
            failure { try MediaOutput.open("") }, failure { try MediaOutput.open("", options: options) },
            failure { try OutputFile(path: "", overwrite: true) },
        ] {
            #expect(error?.category == .usage && error?.message.hasPrefix("the name of the output is empty") == true, "\(error as Any)")
        }
        let input = failure { try MediaInput.open("") }
        #expect(input?.category == .usage && input?.message.hasPrefix("the name of the input is empty") == true, "\(input as Any)")
    }

    @Test func cancelLeavesNoFile() throws {
        try Files.withTemporaryFolder { folder in
            for name in ["a.h264", "a.mp4"] {
                let sink = try MediaOutput.open("\(folder)/\(name)")
                if name == "a.h264" { try sink.write(packet(noise(10))) }
                sink.cancel()
                #expect(Files.list(folder) == [])
            }
            // The sink is released without a call, as after an error.
            _ = try MediaOutput.open("\(folder)/b.h264")
            #expect(Files.list(folder) == [])
        }
    }

    @Test func existingFilesAreKept() throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.h264"
            try Files.write([1, 2, 3], to: path)
            let error = failure { try MediaOutput.open(path) }
            #expect(error?.category == .cannotCreate)
            #expect(error?.message.contains("`overwrite`") == true)
            #expect(Files.list(folder) == ["a.h264"])
            var options = SinkOptions()
            options.overwrite = true
            let sink = try MediaOutput.open(path, options: options)
            try sink.write(packet([7]))
            #expect(try Files.read(path) == [1, 2, 3])
            try sink.finish()
            #expect(try Files.read(path) == [7])
            #expect(Files.list(folder) == ["a.h264"])
        }
    }

    /// A file with the final name that appears during writing is not replaced.
    @Test func fileCreatedMeanwhileIsNotReplaced() throws {
        try Files.withTemporaryFolder { folder in
            let sink = try MediaOutput.open("\(folder)/a.h264")
            try sink.write(packet([7]))
            try Files.write([1], to: "\(folder)/a.h264")
            #expect(failure { try sink.finish() }?.category == .cannotCreate)
            sink.cancel()
            #expect(Files.list(folder) == ["a.h264"])
            #expect(try Files.read("\(folder)/a.h264") == [1])
        }
    }

    @Test func twoWritersOfOneNameAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            let first = try MediaOutput.open("\(folder)/a.h264")
            #expect(failure { try MediaOutput.open("\(folder)/a.h264") }?.category == .cannotCreate)
            try first.write(packet([1]))
            try first.finish()
            #expect(try Files.read("\(folder)/a.h264") == [1])
            // A part that a killed process left is overwritten.
            try Files.write(noise(10), to: "\(folder)/b.h264.part")
            let second = try MediaOutput.open("\(folder)/b.h264")
            try second.write(packet([2]))
            try second.finish()
            #expect(try Files.read("\(folder)/b.h264") == [2])
        }
    }

    /// An older unfinished recording is renamed, unless it is still being written.
    @Test(arguments: ["a.h264", "a.mp4"]) func unfinishedRecordingsAreKept(name: String) throws {
        try Files.withTemporaryFolder { folder in
            var options = SinkOptions()
            options.survivesKill = true
            let path = "\(folder)/\(name)"
            for number in 1...3 {
                try Files.write([UInt8(number)], to: path + ".part")
                let sink = try MediaOutput.open(path, options: options)
                #expect(sink.keptPart == "\(path).part.\(number)")
                #expect(try Files.read(path + ".part") == [])
                #expect(failure { try MediaOutput.open(path, options: options) }?.category == .cannotCreate)
                // No playable data was written.
                #expect(sink.abandon() == nil)
            }
            #expect(Files.list(folder) == (1...3).map { "\(name).part.\($0)" })
            for number in 1...3 { #expect(try Files.read("\(path).part.\(number)") == [UInt8(number)]) }
            let sink = try MediaOutput.open(path, options: options)
            #expect(sink.keptPart == nil)
            if name == "a.h264" {
                try sink.write(packet([7]))
                #expect(sink.abandon() == path + ".part")
                sink.cancel()
                #expect(try Files.read(path + ".part") == [7])
            }
        }
    }

    // MARK: Folders to which others write

    private func inode(_ path: String) -> UInt64 {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    /// The unfinished file's name is taken by another file: it is not written, published or removed.
    @Test(arguments: ["a.h264", "a.mp4"]) func foreignPartFileIsUntouched(name: String) throws {
        try Files.withTemporaryFolder { folder in
            let (path, other) = ("\(folder)/\(name)", "\(folder)/other")
            try Files.write([1, 2, 3], to: other)
            let obstacles: [(String, () -> Int32)] = [
                ("hard link", { unsafe link(other, path + ".part") }), ("link", { unsafe symlink(other, path + ".part") }),
                ("FIFO", { unsafe mkfifo(path + ".part", 0o600) }), ("folder", { unsafe mkdir(path + ".part", 0o700) }),
            ]
            for (what, make) in obstacles {
                try #require(make() == 0)
                let before = inode(path + ".part")
                for survives in [false, true] {
                    var options = SinkOptions()
                    options.survivesKill = survives
                    let error = failure { try MediaOutput.open(path, options: options) }
                    #expect(error?.category == .cannotCreate && error?.message.contains("in the way") == true, "\(what): \(error?.message ?? "")")
                }
                #expect(inode(path + ".part") == before && Files.list(folder) == [name + ".part", "other"].sorted(), "\(what)")
                #expect(try Files.read(other) == [1, 2, 3], "\(what)")
                #expect(unsafe remove(path + ".part") == 0)
            }
            // Only root can change the owner of a file.
            if geteuid() == 0 {
                try Files.write([4], to: path + ".part")
                try #require(unsafe chown(path + ".part", 12345, 12345) == 0)
                #expect(failure { try MediaOutput.open(path) }?.message.contains("another user") == true)
                #expect(try Files.read(path + ".part") == [4])
            }
        }
    }

    /// The part is replaced during writing: the new file with its name is neither published nor removed.
    @Test(arguments: ["a.h264", "a.mp4"], [false, true]) func replacedPartFileIsUntouched(name: String, overwrite: Bool) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/\(name)"
            if overwrite { try Files.write([9], to: path) }
            var options = SinkOptions()
            options.overwrite = overwrite
            for ends in [true, false] {
                let sink = try MediaOutput.open(path, options: options)
                if name == "a.h264" { try sink.write(packet(noise(100))) }
                try #require(unsafe rename(path + ".part", "\(folder)/moved") == 0)
                try Files.write([1, 2, 3], to: path + ".part")
                if ends, name == "a.h264" { #expect(failure { try sink.finish() }?.message.contains("replaced") == true) }
                sink.cancel()
                #expect(try Files.read(path + ".part") == [1, 2, 3])
                let stands = try overwrite ? Files.read(path) == [9] : !Files.exists(path)
                #expect(stands)
                #expect(unsafe unlink(path + ".part") == 0)
            }
        }
    }

    /// The new file has the permissions of the replaced one from the start. If the group cannot be set, it gets no
    /// permissions.
    @Test(arguments: [mode_t(0o600), 0o640, 0o666, 0o444]) func permissionsOfTheReplacedFileAreKept(rights: mode_t) throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/a.h264"
            try Files.write([1], to: path)
            try #require(unsafe chmod(path, rights) == 0)
            var options = SinkOptions()
            options.overwrite = true
            let sink = try MediaOutput.open(path, options: options)
            #expect(mode(path + ".part") == rights)
            try sink.write(packet([7]))
            try sink.finish()
            #expect(mode(path) == rights)
            #expect(try Files.read(path) == [7])
        }
    }

    /// The target of a link with a segment's name is not written.
    @Test func segmentsFollowNoLinks() throws {
        try Files.withTemporaryFolder { folder in
            let other = "\(folder)/other"
            try Files.write([1, 2, 3], to: other)
            try #require(unsafe symlink(other, "\(folder)/a00000.ts") == 0)
            #expect(failure { try OutputFile(inPlace: "\(folder)/a00000.ts", mayReplace: false) }?.category == .cannotCreate)
            let file = try OutputFile(inPlace: "\(folder)/a00000.ts", mayReplace: true)
            let bytes: [UInt8] = [7]
            try file.write(bytes.span)
            try file.commit()
            #expect(try Files.read(other) == [1, 2, 3])
            #expect(try Files.read("\(folder)/a00000.ts") == [7])
        }
    }

    /// A playlist has one line for each segment.
    @Test(arguments: ["a\nb.m3u8", "a\u{1B}[31m.m3u8", "a\"b.m3u8", "#a.m3u8", "a#b.m3u8", "a:b.m3u8", "a%b.m3u8", "a%20b.m3u8", "a?b.m3u8"])
    func namesUnfitForAPlaylistAreRefused(name: String) throws {
        try Files.withTemporaryFolder { folder in
            #expect(failure { try MediaOutput.open("\(folder)/\(name)") }?.category == .usage)
            #expect(Files.list(folder).isEmpty)
        }
    }

    /// A playlist and its segments are created and renamed. Anything with one of their names that is no regular file is
    /// kept, also with `overwrite`. (`-o /dev/full --format hls` once removed that device.)
    @Test(arguments: [true, false], ["a.m3u8", "link.m3u8", "a00000.ts"])
    func hlsReplacesOnlyRegularFiles(overwrite: Bool, taken: String) throws {
        try Files.withTemporaryFolder { folder in
            try #require(unsafe mkfifo("\(folder)/\(taken == "a00000.ts" ? taken : "a.m3u8")", 0o600) == 0)
            try #require(unsafe symlink("a.m3u8", "\(folder)/link.m3u8") == 0)
            let before = Files.list(folder).sorted()
            var options = SinkOptions()
            options.overwrite = overwrite
            let error = failure {
                let sink = try MediaOutput.open("\(folder)/\(taken == "a00000.ts" ? "a.m3u8" : taken)", options: options)
                defer { sink.cancel() }
                let packets = try ContainerSinkTests.packets(ContainerSinkTests.regular(3))
                try sink.start(ContainerSinkTests.description(packets))
                for packet in packets { try sink.write(packet) }
                try sink.finish()
            }
            #expect(error?.category == .cannotCreate)
            let words = taken == "a00000.ts" && !overwrite ? "exists" : "is not a regular file"
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            #expect(Files.list(folder).sorted() == before)
        }
    }

    @Test func unwritablePathsAreRefused() throws {
        try Files.withTemporaryFolder { folder in
            #expect(failure { try MediaOutput.open("\(folder)/none/a.h264") }?.category == .cannotCreate)
            #expect(failure { try MediaOutput.open("\(folder)/none/a.mp4") }?.category == .cannotCreate)
            #expect(failure { try MediaOutput.open(folder + "/") }?.category == .cannotCreate)
            try #require(unsafe mkdir("\(folder)/d.mp4", 0o700) == 0)
            #expect(failure { try MediaOutput.open("\(folder)/d.mp4") }?.category == .cannotCreate)
            #expect(failure { try MediaOutput.open("\(folder)/a.xyz") }?.category == .usage)
            #expect(failure { try MediaOutput.open("/proc/a.mp4") }?.message.contains("does not allow new files") == true)
            #expect(failure { try MediaOutput.open("\(folder)/none/a.m3u8") }?.category == .cannotCreate)
            #expect(failure { try MediaOutput.open("http://127.0.0.1/a.ts") }?.category == .unavailable)
            // There is no listener.
            for url in ["rtmp://127.0.0.1:1/a/b"] { #expect(failure { try MediaOutput.open(url) }?.category == .inputOutput) }
            #expect(SystemError.creation(EACCES, "x").category == .noPermission)
        }
    }

    /// The server accepts the connection and sends nothing: a cancelled open does not wait for it.
    @Test func connectingCanBeCancelled() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(listener >= 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        try #require(isOpen)
        let url = "rtmp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/a/b"
        #expect(failure { try MediaOutput.open(url) { true } }?.category == .interrupted)
    }

    @Test func fullDeviceIsReported() throws {
        var options = SinkOptions()
        for format in [OutputFormat.annexb, .avcc] {
            options.format = format
            let sink = try MediaOutput.open("/dev/full", options: options)
            let error = failure { try sink.write(packet([0, 0, 0, 1] + noise(1000))) }
            #expect(error?.category == .inputOutput)
            #expect(error?.message.contains("disk is full") == true)
            sink.cancel()
        }
    }

    /// The write throws, and SIGPIPE does not end the program.
    @Test func closedPipeIsAnError() throws {
        try Files.withTemporaryFolder { folder in
            let path = "\(folder)/pipe"
            try #require(unsafe mkfifo(path, 0o600) == 0)
            let reader = unsafe open(path, O_RDONLY | O_NONBLOCK)
            var options = SinkOptions()
            options.format = .annexb
            let sink = try MediaOutput.open(path, options: options)
            try sink.write(packet([1, 2, 3]))
            close(reader)
            let error = failure { try sink.write(packet([4])) }
            #expect(error?.category == .inputOutput)
            #expect(error?.message.contains("pipe") == true)
            sink.cancel()
            #expect(Files.list(folder) == ["pipe"])
        }
    }

    @Test func nameImpliesFormatAndCodec() throws {
        let names: [(String, OutputFormat, VideoCodec?)] = [
            ("a.h264", .annexb, .h264), ("a.264", .annexb, .h264), ("A.H265", .annexb, .hevc),
            ("a.hevc", .annexb, .hevc),
            ("a.mp4", .mp4, nil), ("x/b.c.mov", .mov, nil), ("a.mkv", .mkv, nil), ("a.ts", .ts, nil),
            ("-", .annexb, nil),
            ("/dev/null", .annexb, nil), ("a.flv", .flv, nil), ("a.m3u8", .hls, nil), ("rtmp://h/x", .flv, nil),
            ("a.avcc", .avcc, nil), ("a.HVCC", .avcc, .hevc),
        ]
        for (name, format, codec) in names {
            let found = try MediaOutput.format(of: name)
            #expect(found.format == format && found.codec == codec, "\(name)")
        }
        var options = SinkOptions()
        options.format = .avcc
        #expect(try MediaOutput.format(of: "a.h264", options: options) == (.avcc, .h264))
        #expect(try MediaOutput.format(of: "a.unknown", options: options) == (.avcc, nil))
        options.format = .mkv
        #expect(failure { try MediaOutput.format(of: "a.h264", options: options) }?.category == .usage)
        for name in ["a", "a.txt", ".h264", "dir.mp4/a"] {
            #expect(failure { try MediaOutput.format(of: name) }?.category == .usage, "\(name)")
        }
    }

    @Test func avccOutputIsLengthPrefixed() throws {
        try Files.withTemporaryFolder { folder in
            var options = SinkOptions()
            options.format = .avcc
            let sink = try MediaOutput.open("\(folder)/a.avcc", options: options)
            try sink.write(packet([0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x65, 9]))
            try sink.finish()
            #expect(try Files.read("\(folder)/a.avcc") == [0, 0, 0, 3, 0x67, 1, 2, 0, 0, 0, 2, 0x65, 9])
        }
    }
}
