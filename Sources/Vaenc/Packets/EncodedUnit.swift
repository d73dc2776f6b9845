internal import NALUnits
public import VideoBase

/// What a session gives out NAL unit by NAL unit.
public enum EncodedUnit: Sendable {
    /// Before the first packet, and before each whose parameter sets are not those given last: without start codes, in
    /// the order of the stream. They are not among the units.
    case parameterSets([[UInt8]])
    /// A NAL unit without start code.
    ///
    /// - Parameters:
    ///   - packet: the access unit that it is of, with its times; its bytes are left empty.
    ///   - isLast: of its access unit.
    case unit([UInt8], packet: EncodedPacket, isLast: Bool)
}

/// Where NAL units, or the error that ends the session, go. What it may call of the session is as with a handler of packets.
public typealias UnitHandler = @Sendable (Result<EncodedUnit, any Error>) -> Void

/// Takes packets apart.
final class UnitSplitter: Sendable {
    private let given = Monitor<[[UInt8]]>([])
    private let handler: UnitHandler

    init(_ handler: @escaping UnitHandler) { self.handler = handler }

    func add(_ result: Result<EncodedPacket, any Error>) {
        switch result {
        case .failure(let error): handler(.failure(error))
        case .success(var packet):
            let units = packet.units
            let sets = units.filter { NALUnitKind(of: $0, packet.codec).isParameterSet }
            if !sets.isEmpty, given.withLock({ old in
                defer { old = sets }
                return old != sets
            }) {
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
