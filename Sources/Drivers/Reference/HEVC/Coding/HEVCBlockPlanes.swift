/// A block of up to 64×64 samples in scratch memory, with all planes.
struct HEVCBlockPlanes<Sample: HEVCSample>: BitwiseCopyable {
    let luma: ElementPointer<Sample>
    let cb: ElementPointer<Sample>
    let cr: ElementPointer<Sample>

    @inline(__always) init(_ elements: ElementPointer<Sample>) {
        luma = elements
        cb = elements + HEVCScratch<Sample>.lumaSamples
        cr = elements + (HEVCScratch<Sample>.lumaSamples &+ HEVCScratch<Sample>.lumaSamples / 4)
    }

    @inline(__always) var stride: Int { HEVCScratch<Sample>.stride }
    @inline(__always) var chromaStride: Int { HEVCScratch<Sample>.chromaStride }
}
