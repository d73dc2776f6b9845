/// The delays of one SchedSelIdx in a buffering period, in ticks of 90 kHz.
package struct InitialRemovalDelay: Sendable, Hashable {
    package var initial_cpb_removal_delay: Int
    package var initial_cpb_removal_delay_offset: Int
}
