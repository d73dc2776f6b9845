/// The sample filters of H.264 8.7.2.3 and 8.7.2.4. Each filters eight positions of an edge at once.
package enum EdgeFilter {
    /// The filter parameters of eight positions. `clipping` is t_C0, or −1 if bS is 0.
    package struct Strength {
        package var alpha: SIMD8<Int16>
        package var beta: SIMD8<Int16>
        package var clipping: SIMD8<Int16>

        package init(alpha: SIMD8<Int16>, beta: SIMD8<Int16>, clipping: SIMD8<Int16>) {
            self.alpha = alpha
            self.beta = beta
            self.clipping = clipping
        }
    }

    /// The samples across the edge, from the outermost of the p side to the outermost of the q side.
    struct LumaLine {
        var p3: Words
        var p2: Words
        var p1: Words
        var p0: Words
        var q0: Words
        var q1: Words
        var q2: Words
        var q3: Words
    }

    @inline(__always) private static func near(_ a: Words, _ b: Words, _ limit: Words) -> SIMDMask<Words> {
        (a &- b).magnitude .< limit
    }

    @inline(__always) private static func any(_ mask: SIMDMask<Words>) -> Bool {
        let bits = Words(repeating: 0).replacing(with: Words(repeating: -1), where: mask)
        // SAFETY: both types consist of 16 bytes without padding, and every bit pattern is valid.
        let pair = unsafe unsafeBitCast(bits, to: SIMD2<UInt64>.self)
        return pair.x | pair.y != 0
    }

    /// Filters with bS 1…3. Returns false if nothing changed.
    @inline(__always) static func luma(_ l: inout LumaLine, _ s: Strength) -> Bool {
        let on =
            near(l.p0, l.q0, s.alpha) .& near(l.p1, l.p0, s.beta) .& near(l.q1, l.q0, s.beta)
            .& (s.clipping .> Words(repeating: -1))
        if !any(on) { return false }
        let zero = Words(repeating: 0)
        let one = Words(repeating: 1)
        let nearP = near(l.p2, l.p0, s.beta)
        let nearQ = near(l.q2, l.q0, s.beta)
        let limit = s.clipping &+ zero.replacing(with: one, where: nearP) &+ zero.replacing(with: one, where: nearQ)
        let step = zero.replacing(
            with: ((((l.q0 &- l.p0) &<< 2) &+ (l.p1 &- l.q1) &+ 4) &>> 3).atMost(limit).atLeast(0 &- limit), where: on)
        let middle = (l.p0 &+ l.q0 &+ 1) &>> 1
        let stepP = ((l.p2 &+ middle &- (l.p1 &<< 1)) &>> 1).atMost(s.clipping).atLeast(0 &- s.clipping)
        let stepQ = ((l.q2 &+ middle &- (l.q1 &<< 1)) &>> 1).atMost(s.clipping).atLeast(0 &- s.clipping)
        l.p1 = l.p1 &+ zero.replacing(with: stepP, where: on .& nearP)
        l.q1 = l.q1 &+ zero.replacing(with: stepQ, where: on .& nearQ)
        l.p0 = l.p0 &+ step
        l.q0 = l.q0 &- step
        return true
    }

    /// Filters with bS 4. Returns false if nothing changed.
    @inline(__always) static func strongLuma(_ l: inout LumaLine, _ s: Strength) -> Bool {
        let on = near(l.p0, l.q0, s.alpha) .& near(l.p1, l.p0, s.beta) .& near(l.q1, l.q0, s.beta)
        if !any(on) { return false }
        let flat = near(l.p0, l.q0, (s.alpha &>> 2) &+ 2)
        let deepP = on .& flat .& near(l.p2, l.p0, s.beta)
        let deepQ = on .& flat .& near(l.q2, l.q0, s.beta)
        let old = l
        let center = old.p0 &+ old.q0
        let sumP = old.p2 &+ old.p1 &+ center
        let sumQ = old.q2 &+ old.q1 &+ center
        l.p0 = old.p0.replacing(with: ((old.p1 &<< 1) &+ old.p0 &+ old.q1 &+ 2) &>> 2, where: on)
            .replacing(with: (sumP &+ old.p1 &+ center &+ old.q1 &+ 4) &>> 3, where: deepP)
        l.q0 = old.q0.replacing(with: ((old.q1 &<< 1) &+ old.q0 &+ old.p1 &+ 2) &>> 2, where: on)
            .replacing(with: (sumQ &+ old.q1 &+ center &+ old.p1 &+ 4) &>> 3, where: deepQ)
        l.p1 = old.p1.replacing(with: (sumP &+ 2) &>> 2, where: deepP)
        l.q1 = old.q1.replacing(with: (sumQ &+ 2) &>> 2, where: deepQ)
        l.p2 = old.p2.replacing(with: (((old.p3 &+ old.p2) &<< 1) &+ sumP &+ 4) &>> 3, where: deepP)
        l.q2 = old.q2.replacing(with: (((old.q3 &+ old.q2) &<< 1) &+ sumQ &+ 4) &>> 3, where: deepQ)
        return true
    }

    /// Filters the chroma samples next to the edge, with bS 4 if `strong`, otherwise with bS 1…3.
    @inline(__always) static func chroma(
        _ p1: Words, _ p0: inout Words, _ q0: inout Words, _ q1: Words, _ s: Strength, strong: Bool
    ) {
        let on =
            near(p0, q0, s.alpha) .& near(p1, p0, s.beta) .& near(q1, q0, s.beta)
            .& (s.clipping .> Words(repeating: -1))
        if strong {
            let newP = ((p1 &<< 1) &+ p0 &+ q1 &+ 2) &>> 2
            let newQ = ((q1 &<< 1) &+ q0 &+ p1 &+ 2) &>> 2
            p0 = p0.replacing(with: newP, where: on)
            q0 = q0.replacing(with: newQ, where: on)
        } else {
            let limit = s.clipping &+ 1
            let step = ((((q0 &- p0) &<< 2) &+ (p1 &- q1) &+ 4) &>> 3).atMost(limit).atLeast(0 &- limit)
            let applied = Words(repeating: 0).replacing(with: step, where: on)
            p0 = p0 &+ applied
            q0 = q0 &- applied
        }
    }

    // MARK: Edges in memory

    /// Filters eight luma samples on each side of a horizontal edge. `edge` is the first sample below the edge.
    @inline(__always) package static func lumaRow(_ edge: ElementPointer<UInt8>, _ stride: Int, _ s: Strength, strong: Bool) {
        @inline(__always) func row(_ y: Int) -> Words { edge.load(y &* stride, as: HalfBytes.self).words }
        var line = LumaLine(
            p3: strong ? row(-4) : Words(repeating: 0), p2: row(-3), p1: row(-2), p0: row(-1), q0: row(0), q1: row(1),
            q2: row(2), q3: strong ? row(3) : Words(repeating: 0))
        if strong {
            if !strongLuma(&line, s) { return }
            edge.store(-3 &* stride, line.p2.bytes)
            edge.store(2 &* stride, line.q2.bytes)
        } else if !luma(&line, s) {
            return
        }
        edge.store(-2 &* stride, line.p1.bytes)
        edge.store(0 &- stride, line.p0.clippedBytes)
        edge.store(0, line.q0.clippedBytes)
        edge.store(stride, line.q1.bytes)
    }

    /// Filters eight rows of luma across a vertical edge. `edge` is the first sample right of the edge.
    @inline(__always) package static func lumaColumn(_ edge: ElementPointer<UInt8>, _ stride: Int, _ s: Strength, strong: Bool) {
        let start = edge - 4
        let t = square(start, stride).transposed
        var line = LumaLine(p3: t.r0, p2: t.r1, p1: t.r2, p0: t.r3, q0: t.r4, q1: t.r5, q2: t.r6, q3: t.r7)
        if !(strong ? strongLuma(&line, s) : luma(&line, s)) { return }
        store(
            Block8x8(line.p3, line.p2, line.p1, line.p0, line.q0, line.q1, line.q2, line.q3).transposed, start, stride)
    }

    /// Filters four chroma pairs on each side of a horizontal edge. `edge` is the first sample below the edge.
    @inline(__always) package static func chromaRow(_ edge: ElementPointer<UInt8>, _ stride: Int, _ s: Strength, strong: Bool) {
        @inline(__always) func row(_ y: Int) -> Words { edge.load(y &* stride, as: HalfBytes.self).words }
        var p0 = row(-1)
        var q0 = row(0)
        chroma(row(-2), &p0, &q0, row(1), s, strong: strong)
        edge.store(0 &- stride, p0.clippedBytes)
        edge.store(0, q0.clippedBytes)
    }

    /// Filters eight rows of chroma pairs across a vertical edge. `edge` is the first sample right of the edge.
    @inline(__always) package static func chromaColumn(
        _ edge: ElementPointer<UInt8>, _ stride: Int, cb: Strength, cr: Strength, strong: Bool
    ) {
        let start = edge - 4
        var t = square(start, stride).transposed
        chroma(t.r0, &t.r2, &t.r4, t.r6, cb, strong: strong)
        chroma(t.r1, &t.r3, &t.r5, t.r7, cr, strong: strong)
        store(t.transposed, start, stride)
    }

    @inline(__always) private static func square(_ elements: ElementPointer<UInt8>, _ stride: Int) -> Block8x8 {
        @inline(__always) func row(_ y: Int) -> Words { elements.load(y &* stride, as: HalfBytes.self).words }
        return Block8x8(row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7))
    }

    @inline(__always) private static func store(_ b: Block8x8, _ elements: ElementPointer<UInt8>, _ stride: Int) {
        elements.store(0, b.r0.clippedBytes)
        elements.store(stride, b.r1.clippedBytes)
        elements.store(2 &* stride, b.r2.clippedBytes)
        elements.store(3 &* stride, b.r3.clippedBytes)
        elements.store(4 &* stride, b.r4.clippedBytes)
        elements.store(5 &* stride, b.r5.clippedBytes)
        elements.store(6 &* stride, b.r6.clippedBytes)
        elements.store(7 &* stride, b.r7.clippedBytes)
    }
}
