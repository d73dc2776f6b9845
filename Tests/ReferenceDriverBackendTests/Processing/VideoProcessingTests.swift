import CVA
import Glibc
import Testing
import TestOracles

/// Compares video processing with the scale filter of the ffmpeg program.
@Suite struct VideoProcessingTests {
    /// The formats by VA's name and FFmpeg's name.
    static let formats: [(fourcc: Int32, name: String)] = [
        (VA_FOURCC_NV12, "nv12"), (VA_FOURCC_I420, "yuv420p"), (VA_FOURCC_YV12, "yuv420p"), (VA_FOURCC_P010, "p010le"),
        (VA_FOURCC_YUY2, "yuyv422"), (VA_FOURCC_UYVY, "uyvy422"), (VA_FOURCC_BGRA, "bgra"), (VA_FOURCC_BGRX, "bgr0"),
        (VA_FOURCC_RGBA, "rgba"), (VA_FOURCC_RGBX, "rgb0"),
    ]
    static let exact = "accurate_rnd+full_chroma_int+full_chroma_inp+bitexact"

    /// Returns a picture of FFmpeg's test source in a format, and the results of its scale filter in other formats.
    private func ffmpeg(
        _ from: Int, _ width: Int, _ height: Int, outputs: [(format: Int, filter: String)]
    ) throws -> (source: [UInt8], results: [[UInt8]]) {
        try Files.withTemporaryFolder { folder in
            let format = Self.formats[from].name
            let source = try ProcessRunner.run(
                "ffmpeg",
                [
                    "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=\(width)x\(height):r=1:d=1", "-vf",
                    "format=\(format)", "-f", "rawvideo", folder + "/in",
                ])
            #expect(source.status == 0, "\(source.errors)")
            var arguments = [
                "-nostdin", "-v", "error", "-f", "rawvideo", "-pix_fmt", format, "-s", "\(width)x\(height)", "-i",
                folder + "/in",
            ]
            for (index, output) in outputs.enumerated() {
                arguments += [
                    "-vf", output.filter, "-pix_fmt", Self.formats[output.format].name, "-f", "rawvideo",
                    "\(folder)/out\(index)",
                ]
            }
            let scaled = try ProcessRunner.run("ffmpeg", arguments)
            #expect(scaled.status == 0, "\(scaled.errors)")
            return (
                swapped(try Files.read(folder + "/in"), from, width, height),
                try outputs.indices.map { try Files.read("\(folder)/out\($0)") }
            )
        }
    }

    /// Returns the bytes with YV12's planes, which are I420's in another order.
    private func swapped(_ bytes: [UInt8], _ format: Int, _ width: Int, _ height: Int) -> [UInt8] {
        guard Self.formats[format].fourcc == VA_FOURCC_YV12 else { return bytes }
        let luma = width * height
        return Array(bytes[..<luma]) + bytes[(luma + luma / 4)...] + bytes[luma..<(luma + luma / 4)]
    }

    @Test(arguments: formats.indices)
    func everyPairOfFormatsMatchesFFmpeg(from: Int) throws {
        let (width, height) = (96, 64)
        let processor = VideoProcessingClient()
        let sizes = [(96, 64), (160, 90), (50, 38)]
        let outputs = Self.formats.indices.flatMap { format in
            sizes.map { (format: format, filter: "scale=\($0.0):\($0.1):flags=bicubic+\(Self.exact)") }
        }
        let (source, results) = try ffmpeg(from, width, height, outputs: outputs)
        let picture = processor.surface(Self.formats[from].fourcc, width, height, samples: source)
        for (index, output) in outputs.enumerated() {
            let (width, height) = sizes[index % sizes.count]
            let target = processor.surface(Self.formats[output.format].fourcc, width, height)
            try #require(processor.process(picture, into: target) == VA_STATUS_SUCCESS)
            #expect(processor.client.table.vaSyncSurface(processor.client.context, target) == VA_STATUS_SUCCESS)
            let actual = processor.client.samples(target)
            let expected = swapped(results[index], output.format, width, height)
            try #require(actual.count == expected.count)
            #expect(similarity(actual, expected, output.format) > 45, "\(Self.formats[output.format].name) \(width)×\(height)")
        }
    }

    /// Returns the PSNR in dB, without the alpha of formats that have none.
    private func similarity(_ a: [UInt8], _ b: [UInt8], _ format: Int) -> Double {
        switch Self.formats[format].fourcc {
        case VA_FOURCC_P010:
            func word(_ bytes: [UInt8], _ index: Int) -> Double { Double(Int(bytes[index]) | Int(bytes[index + 1]) << 8) }
            let sum = stride(from: 0, to: a.count, by: 2).reduce(0.0) { $0 + pow(word(a, $1) - word(b, $1), 2) }
            return sum == 0 ? .infinity : 10 * log10(65535 * 65535 * Double(a.count / 2) / sum)
        case VA_FOURCC_BGRX, VA_FOURCC_RGBX:
            let indices = a.indices.filter { $0 % 4 != 3 }
            return PSNR.of(indices.map { a[$0] }[...], indices.map { b[$0] }[...])
        default: return PSNR.of(a[...], b[...])
        }
    }

    /// Pairs of a matrix and a range, in VA's values and FFmpeg's words.
    static let meanings: [(VAProcColorStandardType, Int32, String, String)] = [
        (VAProcColorStandardBT601, VA_SOURCE_RANGE_REDUCED, "bt601", "tv"),
        (VAProcColorStandardBT709, VA_SOURCE_RANGE_REDUCED, "bt709", "tv"),
        (VAProcColorStandardBT2020, VA_SOURCE_RANGE_REDUCED, "bt2020", "tv"),
        (VAProcColorStandardSMPTE240M, VA_SOURCE_RANGE_REDUCED, "smpte240m", "tv"),
        (VAProcColorStandardBT470M, VA_SOURCE_RANGE_FULL, "fcc", "pc"),
        (VAProcColorStandardBT709, VA_SOURCE_RANGE_FULL, "bt709", "pc"),
    ]

    @Test(arguments: [0, 3, 6])
    func colorConversionMatchesFFmpeg(format: Int) throws {
        let (width, height) = (64, 48)
        let processor = VideoProcessingClient()
        for from in Self.meanings.indices {
            let (standard, range, matrix, name) = Self.meanings[from]
            let outputs = Self.meanings.map { other in
                (
                    format: format,
                    filter: "scale=\(width):\(height):flags=bicubic+\(Self.exact):in_color_matrix=\(matrix):in_range=\(name)"
                        + ":out_color_matrix=\(other.2):out_range=\(format == 6 ? "pc" : other.3)"
                )
            }
            let (source, results) = try ffmpeg(format == 3 ? 3 : 0, width, height, outputs: outputs)
            let picture = processor.surface(Self.formats[format == 3 ? 3 : 0].fourcc, width, height, samples: source)
            for (to, expected) in results.enumerated() {
                let target = processor.surface(Self.formats[format].fourcc, width, height)
                let status = processor.process(picture, into: target) {
                    $0.surface_color_standard = standard
                    $0.input_color_properties.color_range = UInt8(range)
                    $0.output_color_standard = Self.meanings[to].0
                    $0.output_color_properties.color_range = UInt8(
                        format == 6 ? VA_SOURCE_RANGE_UNKNOWN : Self.meanings[to].1)
                }
                try #require(status == VA_STATUS_SUCCESS)
                let actual = processor.client.samples(target)
                // FFmpeg's filter does not copy chroma unchanged if nothing is to be converted.
                let isSame = to == from && format != 6
                #expect(similarity(actual, isSame ? source : expected, format) > 45, "\(matrix) \(name) to \(Self.meanings[to])")
            }
        }
    }

    @Test func barsHaveTheRequestedColor() throws {
        let processor = VideoProcessingClient()
        let source = processor.surface(VA_FOURCC_NV12, 64, 64, samples: [UInt8](repeating: 77, count: 6144))
        let colors: [(argb: UInt32, standard: VAProcColorStandardType, range: Int32, sample: [UInt8])] = [
            (0xff00_0000, VAProcColorStandardBT601, 1, [16, 128, 128]),
            (0xffff_ffff, VAProcColorStandardBT709, 1, [235, 128, 128]),
            (0xffff_0000, VAProcColorStandardBT601, 1, [81, 90, 240]),
            (0xff00_00ff, VAProcColorStandardBT601, 1, [41, 240, 110]),
            (0xffff_0000, VAProcColorStandardBT709, 1, [63, 102, 240]),
            (0xff00_ff00, VAProcColorStandardBT709, 1, [173, 42, 26]),
            (0xff00_0000, VAProcColorStandardBT709, 2, [0, 128, 128]),
            (0xffff_ffff, VAProcColorStandardBT709, 2, [255, 128, 128]),
        ]
        for (argb, standard, range, background) in colors {
            for area in [(32, 0, 64, 64), (0, 16, 128, 32), (10, 6, 30, 20), (0, 0, 128, 64)] {
                let target = processor.surface(VA_FOURCC_NV12, 128, 64)
                let region = VARectangle(
                    x: Int16(area.0), y: Int16(area.1), width: UInt16(area.2), height: UInt16(area.3))
                let status = processor.process(source, into: target, to: region) {
                    $0.output_background_color = argb
                    $0.surface_color_standard = standard
                    $0.output_color_standard = standard
                    $0.input_color_properties.color_range = UInt8(range)
                    $0.output_color_properties.color_range = UInt8(range)
                }
                try #require(status == VA_STATUS_SUCCESS)
                let actual = processor.client.samples(target)
                var wrong = 0
                for y in 0..<64 {
                    for x in 0..<128 {
                        let isInside =
                            (area.0..<area.0 + area.2).contains(x) && (area.1..<area.1 + area.3).contains(y)
                        let chroma = 128 * 64 + y / 2 * 128 + x / 2 * 2
                        let expected = isInside ? [77, 77, 77] : background
                        if [actual[y * 128 + x], actual[chroma], actual[chroma + 1]] != expected { wrong += 1 }
                    }
                }
                #expect(wrong == 0, "\(argb) \(area)")
            }
        }
        // Ten bits are in the high bits of words; RGB has bytes.
        let wide = processor.surface(VA_FOURCC_P010, 64, 32)
        let region = VARectangle(x: 32, y: 0, width: 32, height: 32)
        #expect(processor.process(source, into: wide, to: region) == VA_STATUS_SUCCESS)
        let words = processor.client.samples(wide)
        #expect(Array(words[0..<2]) == [0, 16] && Array(words[4096..<4100]) == [0, 128, 0, 128])
        let pixels = processor.surface(VA_FOURCC_BGRA, 64, 32)
        processor.process(source, into: pixels, to: region) { $0.output_background_color = 0x8011_2233 }
        #expect(Array(processor.client.samples(pixels)[0..<8]) == [0x33, 0x22, 0x11, 0x80, 0x33, 0x22, 0x11, 0x80])
    }

    /// Returns NV12 whose samples all differ from their neighbors.
    private func pattern(_ width: Int, _ height: Int) -> [UInt8] {
        (0..<width * height * 3 / 2).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 / width &* 11) }
    }

    @Test func regionsAreCopiedUnchanged() throws {
        let processor = VideoProcessingClient()
        let samples = pattern(64, 48)
        let source = processor.surface(VA_FOURCC_NV12, 64, 48, samples: samples)
        for (x, y, width, height) in [(0, 0, 32, 16), (10, 6, 40, 30), (32, 32, 32, 16), (2, 2, 2, 2)] {
            let target = processor.surface(VA_FOURCC_NV12, width, height)
            let part = VARectangle(x: Int16(x), y: Int16(y), width: UInt16(width), height: UInt16(height))
            try #require(processor.process(source, into: target, from: part) == VA_STATUS_SUCCESS)
            func rows(_ range: Range<Int>, from plane: Int) -> [UInt8] {
                range.flatMap { row -> ArraySlice<UInt8> in
                    let start = plane + row * 64 + x
                    return samples[start..<start + width]
                }
            }
            let luma = rows(y..<y + height, from: 0)
            let chroma = rows(y / 2..<(y + height) / 2, from: 64 * 48)
            #expect((processor.client.samples(target) == luma + chroma) as Bool)
        }
    }

    @Test(arguments: [false, true])
    func bobDeinterlacingInterpolatesTheOtherField(isBottom: Bool) throws {
        let processor = VideoProcessingClient()
        let (width, height) = (42, 20)
        let samples = pattern(width, height)
        let source = processor.surface(VA_FOURCC_NV12, width, height, samples: samples)
        let target = processor.surface(VA_FOURCC_NV12, width, height)
        let filter = processor.deinterlacing(flags: isBottom ? VA_DEINTERLACING_BOTTOM_FIELD : 0)
        try #require(processor.process(source, into: target, filters: [filter]) == VA_STATUS_SUCCESS)
        var expected: [UInt8] = []
        for (start, rows) in [(0, height), (width * height, height / 2)] {
            for row in 0..<rows {
                for column in 0..<width {
                    func sample(_ row: Int) -> Int {
                        let first = isBottom ? 1 : 0
                        let inside = min(max(row, first), rows - 2 + first)
                        return Int(samples[start + inside * width + column])
                    }
                    let isKept = row % 2 == (isBottom ? 1 : 0)
                    expected.append(UInt8(isKept ? sample(row) : (sample(row - 1) + sample(row + 1) + 1) / 2))
                }
            }
        }
        #expect((processor.client.samples(target) == expected) as Bool)
    }

    /// Each processor reads what the previous one writes, on separate contexts and threads.
    @Test func chainedProcessingWaitsForItsSource() throws {
        let client = Client()
        let processors = (0..<4).map { _ in VideoProcessingClient(client) }
        let samples = pattern(256, 256)
        var last = processors[0].surface(VA_FOURCC_NV12, 256, 256, samples: samples)
        for step in 0..<40 {
            let next = processors[0].surface(VA_FOURCC_NV12, 256, 256)
            try #require(processors[step % 4].process(last, into: next) == VA_STATUS_SUCCESS)
            #expect(client.destroySurfaces([last]) == VA_STATUS_SUCCESS)
            last = next
        }
        #expect((client.samples(last) == samples) as Bool)
    }

    @Test func severalSourcesFillOnePicture() throws {
        let processor = VideoProcessingClient()
        let client = processor.client
        let target = processor.surface(VA_FOURCC_NV12, 64, 32)
        let sources = [50, 60].map { value in
            processor.surface(VA_FOURCC_NV12, 16, 16, samples: [UInt8](repeating: value, count: 384))
        }
        var areas = [
            VARectangle(x: 0, y: 0, width: 32, height: 32), VARectangle(x: 32, y: 0, width: 32, height: 32),
        ]
        #expect(client.table.vaBeginPicture(client.context, processor.context, target) == VA_STATUS_SUCCESS)
        areas.withUnsafeMutableBufferPointer { list in
            for index in 0..<2 {
                var parameters = VAProcPipelineParameterBuffer()
                parameters.surface = sources[index]
                parameters.output_region = UnsafePointer(list.baseAddress! + index)
                let buffer = client.createBuffer(processor.context, VAProcPipelineParameterBufferType, parameters)
                #expect(client.render(processor.context, [buffer]) == VA_STATUS_SUCCESS)
            }
        }
        #expect(client.table.vaEndPicture(client.context, processor.context) == VA_STATUS_SUCCESS)
        let actual = client.samples(target)
        #expect((0..<64 * 32).allSatisfy { actual[$0] == ($0 % 64 < 32 ? 50 : 60) })
    }
}
