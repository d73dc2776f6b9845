/// One delivery schedule of HRD parameters, H.264 E.2.2 and H.265 E.3.3. SchedSelIdx is its index.
package struct HRDSchedule: Sendable, Hashable {
    /// BitRate[SchedSelIdx] in bits per second (E-37).
    package var bitrate: Int
    /// CpbSize[SchedSelIdx] in bits (E-38).
    package var cpbSize: Int
    package var cbr_flag: Bool

    package init(bitrate: Int, cpbSize: Int, cbr_flag: Bool) {
        self.bitrate = bitrate
        self.cpbSize = cpbSize
        self.cbr_flag = cbr_flag
    }
}
