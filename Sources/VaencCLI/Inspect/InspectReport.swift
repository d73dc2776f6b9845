import BitstreamInspection
import MediaFiles
import VideoBase

/// The object that `vaenc inspect --json` prints: the contract of docs/CLI.md, `"schema": 1`.
struct InspectReport: Encodable {
    /// The type of a picture. IDR pictures are I pictures here.
    enum PictureType: String, Encodable, CaseIterable, CustomStringConvertible {
        case i = "I"
        case p = "P"
        case b = "B"

        init(_ type: InspectedPictureType) {
            switch type {
            case .idr, .i: self = .i
            case .p: self = .p
            case .b: self = .b
            }
        }

        var description: String { rawValue }
    }

    struct Frame: Encodable {
        /// The index in coding order; `display` is the index in output order.
        var index: Int
        var display: Int
        var type: PictureType
        /// The name of the slices' NAL unit type in the standard's table.
        var unit: String
        /// The mean of the slices' SliceQPY. Changes within a slice are in the coded data, which is not read.
        var qp: Double
        var bytes: Int
        /// The times in seconds; null for a stream without a container.
        var pts: Nullable<Double>
        var dts: Nullable<Double>
        var key: Bool
        /// The `index` values of the pictures in the reference lists.
        var references: [Int]
        var temporalLayer: Nullable<Int>
        var slices: Int
        var pictureOrderCount: Int
    }

    /// The NAL units in stream order. Each is created on demand: a file can hold one for every three bytes.
    struct Units {
        struct Unit {
            /// A name of the standard's table, or `type N`. It contains no characters that JSON escapes.
            var type: String
            var offset: Int
            var bytes: Int
        }

        fileprivate let stream: any InspectedStream
        fileprivate let file: ByteStreamFile

        var count: Int { stream.unitCount }

        subscript(_ index: Int) -> Unit {
            let range = stream.unitRange(index)
            return Unit(type: stream.unitName(index), offset: file.fileOffset(of: range.lowerBound), bytes: range.count)
        }
    }

    struct Fault: Encodable {
        var frame: Nullable<Int>
        var rule: String
        var message: String

        init(_ violation: Violation) {
            frame = Nullable(violation.frame)
            rule = violation.rule.rawValue
            message = violation.message
        }
    }

    struct Buffer: Encodable {
        struct Schedule: Encodable {
            var type: String
            var bitrate: Int
            var bufferBits: Int
            var constant: Bool
        }

        var conforms: Bool
        var violations: [Fault]
        var schedules: [Schedule]
    }

    var schema = 1
    var input: String
    var container: String
    var codec: VideoCodec
    var profile: Nullable<String>
    var level: Nullable<String>
    var width: Nullable<Int>
    var height: Nullable<Int>
    var bitDepth: Int
    var bytes: Int
    var reorderDepth: Int
    var frames: [Frame]
    var nalUnits: Units
    /// The check of the HRD; null for a stream without HRD parameters.
    var hrd: Nullable<Buffer>
    var violations: [Fault]
    /// The reason why the stream, or the rest of it, cannot be read.
    var fault: Nullable<String>

    /// The encoded properties: all except `frames` and `nalUnits`, which `InspectJSON` writes separately.
    private enum CodingKeys: String, CodingKey {
        case schema, input, container, codec, profile, level, width, height, bitDepth, bytes, reorderDepth, hrd, violations, fault
    }
}

extension InspectReport {
    /// Creates a report.
    ///
    /// - Parameter hrd: The check of `stream`'s HRD.
    init(_ file: ByteStreamFile, stream: any InspectedStream, codec: VideoCodec, hrd: HRDReport?, input: String) {
        self.input = input
        container = file.form
        self.codec = codec
        profile = Nullable(stream.profileName)
        level = Nullable(stream.levelName)
        width = Nullable(stream.visibleSize?.width)
        height = Nullable(stream.visibleSize?.height)
        bitDepth = stream.bitDepth
        bytes = file.bytes.count
        reorderDepth = stream.reorderDepth
        nalUnits = Units(stream: stream, file: file)
        var packets = (file.packets ?? [])[...]
        frames = stream.pictures.map { picture in
            let slices = picture.sliceQPs
            // The packet that contains the picture's last NAL unit. Parameter sets may come from the container's
            // header.
            let end = picture.nalUnits.last.map { stream.unitRange($0).lowerBound } ?? 0
            while let next = packets.dropFirst().first, next.start <= end { packets.removeFirst() }
            let packet = packets.first
            return Frame(
                index: picture.index, display: picture.displayIndex, type: PictureType(picture.type),
                unit: picture.unitName,
                qp: slices.isEmpty ? 0 : (Double(slices.reduce(0, +)) / Double(slices.count) * 100).rounded() / 100,
                bytes: packet?.byteCount ?? picture.byteCount, pts: Nullable(packet?.presentation?.seconds),
                dts: Nullable(packet?.decode?.seconds), key: Self.isKey(picture, packet?.isKey),
                references: picture.references, temporalLayer: Nullable(picture.temporalLayer), slices: picture.sliceCount,
                pictureOrderCount: picture.pictureOrderCount)
        }
        self.hrd = Nullable(hrd.map(Buffer.init))
        violations = stream.violations.map(Fault.init)
        fault = Nullable(file.fault ?? Self.damage(stream.violations))
    }

    /// Returns whether a picture is a key picture. libavformat marks every picture with a recovery point as a key
    /// packet, whatever the container states, including those where an intra refresh starts.
    private static func isKey(_ picture: some InspectedPicture, _ isKeyPacket: Bool?) -> Bool {
        guard isKeyPacket ?? true else { return false }
        return picture.isRandomAccess || (isKeyPacket != nil && picture.type == .i)
    }

    /// Returns the first violation that means that something could not be read.
    private static func damage(_ violations: [Violation]) -> String? {
        violations.first { [.byteStream, .syntax, .parameterSet].contains($0.rule) }.map(\.description)
    }
}

extension InspectReport.Buffer {
    init(_ report: HRDReport) {
        conforms = report.conforms
        violations = report.violations.map(InspectReport.Fault.init)
        schedules = report.schedules.map {
            Schedule(
                type: $0.isNAL ? "NAL" : "VCL", bitrate: $0.bitrate, bufferBits: $0.cpbSize, constant: $0.isConstant)
        }
    }
}
