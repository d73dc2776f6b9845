/// One slice of a picture to encode.
package struct SliceJob: Sendable {
    /// Raster macroblock addresses.
    package var firstMacroblock: Int
    package var macroblockCount: Int
    package var type: SliceType
    /// SliceQP_Y, H.264 (7-30).
    package var qp: Int
    /// In `ref_idx` order, as the client lists them; `count` is num_ref_idx_active.
    package var list0: [ReconstructedPicture]
    package var list1: [ReconstructedPicture]
    package var cabac: Bool
    package var cabacInitIdc: Int
    package var disableDeblockingFilterIdc: Int
    /// FilterOffsetA and FilterOffsetB, that is twice the syntax elements, −12…12.
    package var filterOffsetA: Int
    package var filterOffsetB: Int
    package var header: SliceHeaderBits
    /// `direct_8x8_inference_flag` of the sequence. B slices are always of spatial direct prediction.
    package var direct8x8Inference = true
    /// The first picture of list 1 is a long-term reference: its motion does not still direct prediction.
    package var isFirstOfList1LongTerm = false

    package init(
        firstMacroblock: Int, macroblockCount: Int, type: SliceType, qp: Int, list0: [ReconstructedPicture],
        list1: [ReconstructedPicture], cabac: Bool, cabacInitIdc: Int, disableDeblockingFilterIdc: Int,
        filterOffsetA: Int, filterOffsetB: Int, header: SliceHeaderBits
    ) {
        self.firstMacroblock = firstMacroblock
        self.macroblockCount = macroblockCount
        self.type = type
        self.qp = qp
        self.list0 = list0
        self.list1 = list1
        self.cabac = cabac
        self.cabacInitIdc = cabacInitIdc
        self.disableDeblockingFilterIdc = disableDeblockingFilterIdc
        self.filterOffsetA = filterOffsetA
        self.filterOffsetB = filterOffsetB
        self.header = header
    }
}

/// One picture to encode: everything the client's buffers said, checked.
package struct PictureJob: Sendable {
    package var widthInMacroblocks: Int
    package var heightInMacroblocks: Int
    package var source: SourcePicture
    /// Where the reconstruction goes; not in any list.
    package var reconstruction: ReconstructedPicture
    /// `transform_8x8_mode_flag`.
    package var transform8x8: Bool
    package var constrainedIntraPrediction: Bool
    package var chromaQPIndexOffset: Int
    package var secondChromaQPIndexOffset: Int
    /// 1 best … 7 fastest.
    package var quality: Int
    /// In order; together they cover every macroblock once.
    package var slices: [SliceJob]
    /// Pictures will predict from this one (`reference_pic_flag`).
    package var isReference = true
    /// QP_Y of each macroblock in raster order, 0…51, in place of its slice's; one for every macroblock.
    package var macroblockQPs: [UInt8]?
    /// Macroblock columns, or rows, that are coded as intra: what rolling intra refresh renews in this picture. From
    /// the first on (`lowerBound` 0) a round begins; what a round has renewed is from then on predicted only from
    /// what it has renewed of earlier pictures, so that a decoder that starts with the round is right at its end.
    package var intraRefresh: IntraRefresh?
    /// Levels are chosen by what they cost (trellis), or not; nil leaves it to `quality`.
    package var choosesLevels: Bool?
    /// Bytes that no slice's NAL unit shall exceed, where one macroblock does not.
    package var sliceByteLimit: SliceByteLimit?

    package init(
        widthInMacroblocks: Int, heightInMacroblocks: Int, source: SourcePicture,
        reconstruction: ReconstructedPicture, transform8x8: Bool, constrainedIntraPrediction: Bool,
        chromaQPIndexOffset: Int,
        secondChromaQPIndexOffset: Int, quality: Int, slices: [SliceJob]
    ) {
        self.widthInMacroblocks = widthInMacroblocks
        self.heightInMacroblocks = heightInMacroblocks
        self.source = source
        self.reconstruction = reconstruction
        self.transform8x8 = transform8x8
        self.constrainedIntraPrediction = constrainedIntraPrediction
        self.chromaQPIndexOffset = chromaQPIndexOffset
        self.secondChromaQPIndexOffset = secondChromaQPIndexOffset
        self.quality = quality
        self.slices = slices
    }
}

/// The client's NV12 surface. Macroblocks outside `width`×`height` repeat the last column and row.
///
/// SAFETY: the backend keeps the surface's memory alive and unmapped for writing while the job runs.
@safe package struct SourcePicture: @unchecked Sendable {
    package var luma: ElementPointer<UInt8>
    package var chroma: ElementPointer<UInt8>
    package var lumaPitch: Int
    package var chromaPitch: Int
    package var width: Int
    package var height: Int

    package init(
        luma: ElementPointer<UInt8>, chroma: ElementPointer<UInt8>, lumaPitch: Int, chromaPitch: Int, width: Int, height: Int
    ) {
        self.luma = luma
        self.chroma = chroma
        self.lumaPitch = lumaPitch
        self.chromaPitch = chromaPitch
        self.width = width
        self.height = height
    }
}

