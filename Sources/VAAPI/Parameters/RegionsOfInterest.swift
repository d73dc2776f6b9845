internal import CVA

/// The parts of one picture that get more or fewer bits than the rest: VAEncMiscParameterBufferROI.
///
/// The driver receives a pointer to the list. The sender must keep this value until the picture is done, as `Picture`
/// does.
package struct RegionsOfInterest: Sendable, Hashable {
    /// A region: VAEncROI. If regions overlap, the first in the list takes precedence.
    package struct Region: Sendable, Hashable {
        /// The position in luma samples, from the top left.
        package var x: Int16
        package var y: Int16
        package var width: UInt16
        package var height: UInt16
        /// The difference to the picture's QP, or a priority (larger means better).
        package var value: Int8

        package init(x: Int16, y: Int16, width: UInt16, height: UInt16, value: Int8) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
            self.value = value
        }
    }

    package let regions: [Region]
    /// The allowed deviation of rate control from the picture's QP. Ignored in CQP.
    package let qpDeltaRange: ClosedRange<Int8>
    /// Whether `value` is a QP difference instead of a priority. In CQP, it always is one.
    package let valuesAreQPDeltas: Bool
    let list: List

    package init(
        _ regions: [Region], qpDeltaRange: ClosedRange<Int8> = -51...51, valuesAreQPDeltas: Bool = true
    ) {
        self.regions = regions
        self.qpDeltaRange = qpDeltaRange
        self.valuesAreQPDeltas = valuesAreQPDeltas
        list = List(regions)
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.regions == b.regions && a.qpDeltaRange == b.qpDeltaRange && a.valuesAreQPDeltas == b.valuesAreQPDeltas
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(regions)
        hasher.combine(qpDeltaRange)
        hasher.combine(valuesAreQPDeltas)
    }

    /// The C array to which the driver receives a pointer.
    @safe final class List: @unchecked Sendable {
        // SAFETY: The array is written in init, read only by drivers, and freed with the object.
        let entries: UnsafeMutableBufferPointer<VAEncROI>

        init(_ regions: [Region]) {
            unsafe entries = .allocate(capacity: regions.count)
            for (index, region) in regions.enumerated() {
                var entry = VAEncROI()
                entry.roi_rectangle = VARectangle(
                    x: region.x, y: region.y, width: region.width, height: region.height)
                entry.roi_value = region.value
                unsafe entries.initializeElement(at: index, to: entry)
            }
        }

        deinit { unsafe entries.deallocate() }
    }

    var lowered: VAEncMiscParameterBufferROI {
        var c = unsafe VAEncMiscParameterBufferROI()
        unsafe c.num_roi = UInt32(regions.count)
        unsafe c.max_delta_qp = qpDeltaRange.upperBound
        unsafe c.min_delta_qp = qpDeltaRange.lowerBound
        unsafe c.roi = list.entries.baseAddress
        unsafe c.roi_flags.bits.roi_value_is_qp_delta = valuesAreQPDeltas ? 1 : 0
        return unsafe c
    }
}
