/// What a client asks of the rate controller, as it holds for one picture.
struct RateSettings: Equatable, Sendable {
    enum Mode: Sendable {
        case constantBitRate, variableBitRate, constantQuality, qualityVariableBitRate, averageBitRate
        /// TCBRC: the client names each picture's size.
        case targetFrameSize
    }

    var mode: Mode
    /// One for each temporal layer, the base first; at least one. Rates include those of the layers below.
    var layers: [LayerRate]
    /// Milliseconds; 0: not said. Pictures in AVBR.
    var window = 0
    /// 0: the controller's choice.
    var initialQP = 0
    var minimumQP = 1
    var maximumQP = 51
    /// Filler where a decoder's buffer would overflow.
    var stuffs = true
    /// ICQ's and QVBR's quality as a QP, 1…51.
    var quality = 23
    /// Bits; 0: a second at the highest rate.
    var bufferBits = 0
    /// Bits; nil where the client says nothing of the buffer.
    var initialFullness: Int?
    /// Bits; 0: no limit.
    var maximumFrameBits = 0
    /// Bits; 0: none is asked for.
    var targetFrameBits = 0
    /// Pictures from one I picture to the next, and to the next P picture; 0: not said.
    var intraPeriod = 0
    var referencePeriod = 0
    /// How often the client has asked to start over.
    var resets = 0

    /// A temporal layer with those below it.
    struct LayerRate: Equatable, Sendable {
        /// The most bits a second, and the share of it that is aimed at, in percent.
        var maximumBitRate: Int
        var targetPercentage: Int
        var framesPerSecond: Double

        var targetBitRate: Double { Double(maximumBitRate) * Double(targetPercentage) / 100 }
    }

    /// The whole stream's.
    var stream: LayerRate { layers[layers.count - 1] }

    /// Whether the rates are those of `other` but for a correction, as of clients that add to the stream themselves.
    func isNear(_ other: RateSettings) -> Bool {
        layers.count == other.layers.count
            && zip(layers, other.layers).allSatisfy {
                $0.framesPerSecond == $1.framesPerSecond
                    && abs($0.targetBitRate - $1.targetBitRate) <= 0.1 * $1.targetBitRate
            }
    }

    /// What a picture of layer `index` may take on average, in bits.
    func bitsPerPicture(layer index: Int) -> Double {
        let layer = layers[index]
        guard index > 0 else { return layer.targetBitRate / layer.framesPerSecond }
        let below = layers[index - 1]
        let pictures = layer.framesPerSecond - below.framesPerSecond
        let bits = layer.targetBitRate - below.targetBitRate
        guard pictures > 0, bits > 0 else { return stream.targetBitRate / stream.framesPerSecond }
        return bits / pictures
    }
}

/// A picture as the rate controller sees it.
struct RatedPicture: Sendable {
    /// Pictures of a kind cost alike at one QP.
    enum Kind: Int, CaseIterable, Sendable {
        case intra, predicted, bidirectionalReference, disposable

        static let count = allCases.count

        init(isPredicted: Bool, isBidirectional: Bool, isReference: Bool) {
            if isBidirectional {
                self = isReference ? .bidirectionalReference : .disposable
            } else if isPredicted {
                self = isReference ? .predicted : .disposable
            } else {
                self = .intra
            }
        }
    }

    var settings: RateSettings
    var kind: Kind
    var layer: Int
    /// Luma samples.
    var samples: Int
    /// Pictures that the client left out before this one, and the bits that it sent for them.
    var skippedPictures = 0
    var skippedBits = 0
}
