import Testing
import VideoBase

@testable import VAAPI

/// Compares the words with those that `vainfo -a` printed for the same values.
@Suite struct MeaningTests {
    private static let samples: [(AttributeType, UInt32, [String])] = [
        (AttributeType.rtFormat, 0x1, ["VA_RT_FORMAT_YUV420"]),
        (.rateControl, 0x1496, ["VA_RC_CBR", "VA_RC_VBR", "VA_RC_CQP", "VA_RC_MB", "VA_RC_QVBR", "VA_RC_TCBRC"]),
        (.encMaxRefFrames, 0x20008, ["l0=8", "l1=2"]),
        (.encPackedHeaders, 0, ["VA_ENC_PACKED_HEADER_NONE"]),
        (.encPackedHeaders, 0x5, ["VA_ENC_PACKED_HEADER_SEQUENCE", "VA_ENC_PACKED_HEADER_SLICE"]),
        (AttributeType(rawValue: 11), 0, ["VA_ENC_INTERLACED_NONE"]),
        (.maxPictureWidth, 4096, ["4096"]),
        (.encQualityRange, 7, ["number of supported quality levels is 7"]),
        (.maxFrameSize, 3, ["max_frame_size=1", "multiple_pass=1"]),
        (.encROI, 0x310, ["num_roi_regions=16", "roi_rc_priority_support=1", "roi_rc_qp_delta_support=1"]),
        (.encIntraRefresh, 0, ["VA_ENC_INTRA_REFRESH_NONE"]),
        (
            AttributeType(rawValue: 26), 0x103,
            ["max_num_temporal_layers_minus1=3", "temporal_layer_bitrate_control_flag=1"]
        ),
        (.rateControl, 0x8000_0002, ["VA_RC_CBR", "0x80000000"]),
        (AttributeType(rawValue: 63), 17, ["17"]),
    ]

    @Test(arguments: samples)
    func wordsMatchVainfo(type: AttributeType, value: UInt32, words: [String]) {
        #expect(type.meaning(of: value) == words)
    }

    @Test func everyTypeAndBitHasAMeaning() {
        for type in 0..<AttributeType.queried {
            for value: UInt32 in [0, 0xffff_ffff] + (0..<32).map({ UInt32(1) << $0 }) {
                let words = AttributeType(rawValue: type).meaning(of: value)
                #expect(!words.isEmpty && words.allSatisfy { !$0.isEmpty })
            }
        }
    }

    /// The values are those of Tiger Lake's iHD 25.2.
    @Test func hevcAttributesAreDecoded() {
        let blocks = HEVCBlockSizes(0x88c7)
        #expect(blocks.log2MaxCodingTreeBlock == 6 && blocks.log2MinCodingTreeBlock == 4)
        #expect(blocks.log2MinCodingBlock == 3 && blocks.log2MaxTransformBlock == 5 && blocks.log2MinTransformBlock == 2)
        #expect(blocks.maxTransformHierarchyDepthInter == 2 && blocks.maxTransformHierarchyDepthIntra == 2)
        let features = HEVCFeatures(0x1900464)
        #expect(features.amp == .required && features.sao == .supported)
        #expect(features.cuQPDelta == .required && features.pcm == .notSupported)
    }

    @Test func limitAttributesAreDecoded() {
        let attributes = ConfigAttributes(values: [.encMaxRefFrames: 0x10002, .rateControl: 0x56, .encROI: 0x20a])
        #expect(attributes.maxReferences == ReferenceLimits(l0: 2, l1: 1))
        #expect(attributes.rateControl.modes == [.cqp, .cbr, .vbr, .icq])
        #expect(attributes.regionsOfInterest?.count == 10 && attributes.regionsOfInterest?.takesQPDelta == true)
        #expect(attributes.maxSlices == nil && attributes.packedHeaders.isEmpty)
    }

    @Test func codedStatusIsDecoded() {
        let status = CodedStatus(rawValue: 0x9200 | 31)
        #expect(status.averageQP == 31)
        #expect(status.errors == [.badBitstream, .sliceOverflow, .frameSizeOverflow])
        #expect(status.names == ["SLICE_OVERFLOW", "FRAME_SIZE_OVERFLOW", "BAD_BITSTREAM"])
        #expect(CodedStatus(rawValue: 0x1000_0400).errors.isEmpty)
    }
}
