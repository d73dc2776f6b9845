internal import NALUnits
internal import Threads
public import VideoBase

/// One output of a session that delivers NAL units separately.
public enum EncodedUnit: Sendable {
    /// The parameter sets, without start codes, in stream order. They come before the first packet, and before each
    /// packet whose parameter sets differ from the last ones. They are not repeated among the units.
    case parameterSets([[UInt8]])
    /// A NAL unit without a start code.
    ///
    /// - Parameters:
    ///   - packet: The access unit that the NAL unit belongs to, with its times. `bytes` is empty.
    ///   - isLast: Whether this is the last NAL unit of the access unit.
    case unit([UInt8], packet: EncodedPacket, isLast: Bool)
}

/// Receives NAL units, or the error that ends the session. The rules for a handler of packets apply: see
/// `CompressionSession`.
public typealias UnitHandler = @Sendable (Result<EncodedUnit, any Error>) -> Void

/// Splits packets into NAL units.
final class UnitSplitter: Sendable {
    private let latestSets = Monitor<[[UInt8]]>([])
    private let handler: UnitHandler

    init(_ handler: @escaping UnitHandler) { self.handler = handler }

    func add(_ result: Result<EncodedPacket, any Error>) {
        switch result {
        case .failure(let error): handler(.failure(error))
        case .success(var packet):
            let units = packet.units
            let sets = units.filter { NALUnitKind(of: $0, packet.codec).isParameterSet }
            if !sets.isEmpty,
                latestSets.withLock({ old in
                    defer { old = sets }
                    return old != sets
                })
            {
                handler(.success(.parameterSets(sets)))
            }
            let rest = units.filter { !NALUnitKind(of: $0, packet.codec).isParameterSet }
            packet.bytes = []
            for (index, unit) in rest.enumerated() {
                handler(.success(.unit(unit, packet: packet, isLast: index == rest.count - 1)))
            }
        }
    }
}
