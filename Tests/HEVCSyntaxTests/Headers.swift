import HEVCSyntax
import NALUnits
import TestOracles
import VideoBase

/// Parts from which the tests build streams.
enum Headers {
    static let level31 = Level.all[4]

    static func sps(
        _ profile: CodecProfile = .hevcMain, size: VideoSize = VideoSize(width: 64, height: 48), subLayers: Int = 1,
        vui: VUIParameters? = nil
    ) -> SequenceParameterSet {
        SequenceParameterSet(
            profile: profile, tier: .main, level: level31, size: size,
            subLayers: (0..<subLayers).map {
                SubLayerOrdering(max_dec_pic_buffering: $0 + 2, max_num_reorder_pics: $0)
            },
            vui: vui)
    }

    /// Returns a slice segment with a header and arbitrary data, which the parser does not read.
    static func slice(
        _ header: SliceSegmentHeader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet
    ) -> [UInt8] {
        var w = BitWriter()
        header.write(to: &w, sps: sps, pps: pps)
        w.append([0x55, 0xAA, 0x55, 0xAA])
        w.trailingBits()
        return NALUnit.bytes(header.nal_unit_type, temporalID: header.temporalID, rbsp: w.bytes)
    }

    /// Returns FFmpeg's trace of the units; throws FFmpeg's warnings.
    static func trace(_ units: [[UInt8]]) throws -> TraceHeaders {
        var stream: [UInt8] = []
        for unit in units { AnnexB.append(unit, to: &stream) }
        return try TraceHeaders(stream: stream, codec: "hevc")
    }

    static func bits(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (0..<8).map { byte >> UInt8(7 - $0) & 1 == 1 ? "1" : "0" }.joined() }.joined()
    }
}

extension TraceHeaders.Unit {
    /// Returns every value of a field, without regard to array indices.
    func values(_ name: String) -> [Int] {
        fields.filter { $0.name.prefix { $0 != "[" } == name }.map(\.value)
    }
}
