/// The rate control settings of one picture.
struct RateSettings: Equatable, Sendable {
    enum Mode: Sendable {
        case constantBitRate, variableBitRate, constantQuality, qualityVariableBitRate, averageBitRate
        /// TCBRC: the client sets the size of each picture.
        case targetFrameSize
    }

    var mode: Mode
    /// The rates of the temporal layers, the base layer first; at least one. The rates of a layer include those of the
    /// layers below.
    var layers: [LayerRate]
    /// The window in milliseconds, or in pictures in AVBR mode; 0 if not specified.
    var window = 0
    /// The QP of the first picture; 0 if the controller chooses it.
    var initialQP = 0
    var minimumQP = 1
    var maximumQP = 51
    /// Whether CBR adds filler data when the decoder's buffer would overflow.
    var addsFiller = true
    /// The quality of ICQ and QVBR as a QP, 1…51.
    var quality = 23
    /// The size of the decoder's buffer in bits; 0 means one second at the maximum bit rate.
    var bufferBits = 0
    /// The initial fullness of the decoder's buffer in bits; nil if not specified.
    var initialFullness: Int?
    /// The maximum size of a coded picture in bits; 0: no limit.
    var maximumFrameBits = 0
    /// The target size of a coded picture in bits, for TCBRC; 0 if not specified.
    var targetFrameBits = 0
    /// The number of pictures from one I picture to the next; 0 if not specified.
    var intraPeriod = 0
    /// The number of pictures from one I or P picture to the next; 0 if not specified.
    var referencePeriod = 0
    /// The number of times that the client has requested a reset of the rate control.
    var resets = 0

    /// The rates of a temporal layer, including the layers below it.
    struct LayerRate: Equatable, Sendable {
        /// The maximum bit rate in bits per second.
        var maximumBitRate: Int
        /// The target bit rate in percent of the maximum.
        var targetPercentage: Int
        var framesPerSecond: Double

        var targetBitRate: Double { Double(maximumBitRate) * Double(targetPercentage) / 100 }
    }

    /// The rates of the whole stream.
    var stream: LayerRate { layers[layers.count - 1] }

    /// Whether the frame rates equal those of `other`, and the bit rates differ by at most 10 %. Clients that add data
    /// to the stream themselves make such corrections.
    func isNear(_ other: RateSettings) -> Bool {
        layers.count == other.layers.count
            && zip(layers, other.layers).allSatisfy {
                $0.framesPerSecond == $1.framesPerSecond
                    && abs($0.targetBitRate - $1.targetBitRate) <= 0.1 * $1.targetBitRate
            }
    }

    /// Returns the average number of bits for a picture of layer `index`.
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

/// The rate controller's input for a picture.
struct RatedPicture: Sendable {
    /// The kind of a picture. Pictures of one kind take similar numbers of bits at the same QP.
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
    /// The number of luma samples.
    var samples: Int
    /// The maximum size in bits that the stream's level allows; nil if there is no limit.
    var levelBits: Double?
    /// The number of pictures that the client skipped before this one.
    var skippedPictures = 0
    /// The bits that the client sent for the skipped pictures.
    var skippedBits = 0
}
