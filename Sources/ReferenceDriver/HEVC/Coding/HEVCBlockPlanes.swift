/// A block of up to 64×64 of all planes in scratch memory.
struct HEVCBlockPlanes<Sample: HEVCSample>: BitwiseCopyable {
    let luma: Lane<Sample>
    let cb: Lane<Sample>
    let cr: Lane<Sample>

    @inline(__always) init(_ lane: Lane<Sample>) {
        luma = lane
        cb = lane + HEVCScratch<Sample>.lumaSamples
        cr = lane + (HEVCScratch<Sample>.lumaSamples &+ HEVCScratch<Sample>.lumaSamples / 4)
    }

    @inline(__always) var stride: Int { HEVCScratch<Sample>.stride }
    @inline(__always) var chromaStride: Int { HEVCScratch<Sample>.chromaStride }
}
