/// Splits an Annex B stream into its NAL units, with their start codes.
public enum AnnexBUnits {
    public static func split(_ stream: [UInt8]) -> [[UInt8]] {
        let starts = stream.indices.dropLast(3).filter { stream[$0] == 0 && stream[$0 + 1] == 0 && stream[$0 + 2] == 1 }
        return zip(starts, starts.dropFirst() + [stream.count]).map { Array(stream[$0..<$1]) }
    }

    /// Whether a unit, with its start code of three bytes, is a coded slice.
    public static func isSlice(_ unit: [UInt8], _ codec: StreamCodec) -> Bool {
        codec.isSlice(type: codec.unitType(unit[3]))
    }

    /// Returns H.264 units without the slices of the temporal layers above `layer`. A slice that follows no prefix NAL
    /// unit (type 14, H.264 7.3.1) is kept.
    public static func lowerLayers(_ units: [[UInt8]], through layer: Int) -> [[UInt8]] {
        var current = 0
        return units.filter { unit in
            let type = unit.count > 3 ? unit[3] & 31 : 0
            if type == 14, unit.count > 6 { current = Int(unit[6]) >> 5 }
            return ![1, 5, 14].contains(type) || current <= layer
        }
    }
}
