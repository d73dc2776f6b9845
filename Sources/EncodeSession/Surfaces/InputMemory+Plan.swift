import VAAPI

extension InputMemory {
    /// The kinds of memory to try for a driver, the best first. The driver's own memory follows them.
    struct Plan {
        private(set) var candidates: [(kind: Kind, why: String)] = []
        /// The kinds that are not tried although they would be better, with the reasons.
        private(set) var refusals: [String] = []
        /// The reason to use the driver's memory if nothing was refused.
        private(set) var driversMemory = "the driver does not read the program's memory"

        /// - Parameter refused: The failure of shared memory in this session, after which no kind is tried.
        init(_ display: Display, _ surfaces: SurfaceCapabilities, refused: String?) {
            if let refused {
                driversMemory = refused
                return
            }
            let request = "requested by VAENC_INPUT_MEMORY"
            switch Environment.value("VAENC_INPUT_MEMORY").flatMap({ Kind(rawValue: $0) }) {
            // `packed` is a form of `program`.
            case .packed: choose(display, surfaces)
            case .driver: driversMemory = request
            case let kind?: candidates = [(kind, request)]
            case nil: choose(display, surfaces)
            }
        }

        private mutating func choose(_ display: Display, _ surfaces: SurfaceCapabilities) {
            let vendor = display.vendor
            let isReported = surfaces.memoryTypes.contains(.userPointer) && !DriverQuirk.ignoresUserMemory.affects(vendor)
            let imports = surfaces.memoryTypes.contains(.drmPrime2)
            if DriverQuirk.uncachedUserMemory.affects(vendor), display.kernelDriver == "xe" {
                refusals = ["\(Kind.program.rawValue): with the kernel driver xe, the driver may read stale memory"]
            } else if isReported || DriverQuirk.hidesUserMemory.affects(vendor) {
                candidates = [(.program, "the device reads the program's memory")]
            } else if DriverQuirk.mapsByCopy.affects(vendor), imports {
                candidates = [(.exported, "the driver exports linear surfaces")]
            } else {
                return
            }
            // The kernel driver xe refuses imported memory that the device would read past the processor's caches.
            if imports { candidates.append((.udmabuf, "the driver imports the program's memory as a DMA-BUF")) }
        }
    }
}
