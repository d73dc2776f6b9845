internal import CVA

/// Decodes the pictures of a context. Only the context's thread uses it.
final class DecodeWorker: @unchecked Sendable {
    private let decoder: PictureDecoder
    /// The parameter sets of the last packet.
    private var parameterSets: [UInt8] = []

    init(_ codec: DriverCodec) throws {
        do {
            decoder = try PictureDecoder(codec)
        } catch {
            throw Refusal.operationFailed("the decoder cannot be used: \(error.reason)")
        }
    }

    /// The result of decoding a picture or field.
    enum Result {
        case whole
        /// The picture has errors or is missing.
        case damaged
        /// The picture has errors or is missing, because the decoder did not have enough memory.
        case noMemory
    }

    /// Decodes a picture or field and copies it into `memory`.
    func decode(_ packet: DecodePacket, into memory: HostMemory, _ layout: PlaneLayout) -> Result {
        if packet.resetsDecoder { decoder.flush() }
        let isNew = packet.parameterSets != parameterSets
        let outcome = decoder.decode(
            (isNew ? packet.parameterSets : []) + packet.slices, continues: packet.continues)
        parameterSets = packet.parameterSets
        let fault = outcome.lacksMemory ? Result.noMemory : .damaged
        guard let picture = outcome.picture, (picture.bitDepth > 8) == layout.isWide else { return fault }
        picture.copy(to: memory, layout)
        return outcome.isDamaged ? fault : .whole
    }
}

extension DecodedPicture {
    /// Copies the picture into NV12 or P010 memory. A part that exceeds the layout's size is not copied.
    fileprivate func copy(to memory: HostMemory, _ layout: PlaneLayout) {
        // SAFETY: all rows and columns are inside the picture's planes, which the decoder keeps until its next call.
        let pointers = unsafe planes.map { unsafe ElementPointer($0) }
        let (columns, rows) = (min(width, layout.width), min(height, layout.height))
        for row in 0..<rows {
            let target = memory.elements(at: layout.offsets[0] + row * layout.pitches[0])
            let source = pointers[0] + row * strides[0]
            if layout.isWide {
                target.putHigh(source, count: columns)
            } else {
                target.copy(from: source, count: columns)
            }
        }
        for row in 0..<(rows + 1) / 2 {
            let target = memory.elements(at: layout.offsets[1] + row * layout.pitches[1])
            let (cb, cr) = (pointers[1] + row * strides[1], pointers[2] + row * strides[2])
            if layout.isWide {
                target.putHighPairs(cb, cr, count: (columns + 1) / 2)
            } else {
                target.putPairs(cb: cb, cr: cr, count: (columns + 1) / 2)
            }
        }
    }
}

extension ElementPointer<UInt8> {
    /// Stores 10-bit words in the high bits, as P010 requires.
    fileprivate func putHigh(_ words: ElementPointer<UInt8>, count: Int) {
        var index = 0
        while index + 16 <= count {
            store(2 * index, words.load(2 * index, as: SIMD16<UInt16>.self) &<< 6)
            index += 16
        }
        while index < count {
            store(2 * index, words.load(2 * index, as: UInt16.self) << 6)
            index += 1
        }
    }

    /// Interleaves 10-bit words of two planes into pairs, Cb first, in the high bits.
    fileprivate func putHighPairs(_ cb: ElementPointer<UInt8>, _ cr: ElementPointer<UInt8>, count: Int) {
        var index = 0
        while index + 8 <= count {
            var pairs = SIMD16<UInt16>()
            pairs.evenHalf = cb.load(2 * index, as: SIMD8<UInt16>.self) &<< 6
            pairs.oddHalf = cr.load(2 * index, as: SIMD8<UInt16>.self) &<< 6
            store(4 * index, pairs)
            index += 8
        }
        while index < count {
            store(4 * index, cb.load(2 * index, as: UInt16.self) << 6)
            store(4 * index + 2, cr.load(2 * index, as: UInt16.self) << 6)
            index += 1
        }
    }
}
