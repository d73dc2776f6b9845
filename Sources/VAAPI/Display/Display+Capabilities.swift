internal import CVA
internal import VideoBase

extension Display {
    /// Returns the profiles that the driver supports at any entry point (vaQueryConfigProfiles).
    package func profiles() throws(VAError) -> [Profile] {
        var count = unsafe vaMaxNumProfiles(handle)
        let room = try room(count, call: "vaMaxNumProfiles", what: "profiles")
        var list = [VAProfile](repeating: VAProfileNone, count: room)
        try check(unsafe vaQueryConfigProfiles(handle, &list, &count), call: "vaQueryConfigProfiles", object: vendor)
        try checkCount(count, room: room, call: "vaQueryConfigProfiles", object: vendor)
        return list.prefix(Int(count)).map { Profile(rawValue: $0.rawValue) }
    }

    /// The largest plausible number of list entries. A driver that reports more is treated as faulty.
    private static let maxEntries: CInt = 4096

    /// Returns how many entries to allocate: the driver's reported maximum, but at least 64, because a driver may write
    /// more entries than it reports.
    private func room(_ most: CInt, call: String, what: String) throws(VAError) -> Int {
        guard (0...Self.maxEntries).contains(most) else {
            throw VAError(
                call: call, status: .operationFailed, object: vendor, driverMessage: "it reports \(most) \(what)",
                remedy: "use another driver or device", category: .unavailable)
        }
        return max(Int(most), 64)
    }

    private func checkCount(_ count: CInt, room: Int, call: String, object: String) throws(VAError) {
        guard count >= 0, Int(count) <= room else {
            throw VAError(
                call: call, status: .operationFailed, object: object,
                driverMessage: "it reports \(count) entries, but there is space for \(room)",
                remedy: "use another driver or device", category: .unavailable)
        }
    }

    /// Returns the entry points of a profile (vaQueryConfigEntrypoints), or an empty array if the driver does not
    /// support the profile.
    package func entryPoints(of profile: Profile) throws(VAError) -> [EntryPoint] {
        var count = unsafe vaMaxNumEntrypoints(handle)
        let room = try room(count, call: "vaMaxNumEntrypoints", what: "entry points")
        var list = [VAEntrypoint](repeating: VAEntrypointVLD, count: room)
        let status = unsafe vaQueryConfigEntrypoints(handle, VAProfile(profile.rawValue), &list, &count)
        if VAStatusCode(rawValue: status) == .unsupportedProfile { return [] }
        try check(status, call: "vaQueryConfigEntrypoints", object: profile.name)
        try checkCount(count, room: room, call: "vaQueryConfigEntrypoints", object: profile.name)
        return list.prefix(Int(count)).map { EntryPoint(rawValue: Int32(bitPattern: $0.rawValue)) }
    }

    /// Returns all attributes of a profile at an entry point, queried in one call of vaGetConfigAttributes.
    package func attributes(of profile: Profile, at entryPoint: EntryPoint) throws(VAError) -> ConfigAttributes {
        var list = (0..<AttributeType.queried).map {
            VAConfigAttrib(type: VAConfigAttribType($0), value: AttributeType.notSupported)
        }
        try check(
            unsafe vaGetConfigAttributes(
                handle, VAProfile(profile.rawValue), VAEntrypoint(UInt32(bitPattern: entryPoint.rawValue)), &list,
                CInt(list.count)),
            call: "vaGetConfigAttributes", object: "\(profile)/\(entryPoint)")
        var values: [AttributeType: UInt32] = [:]
        for attribute in list where attribute.value != AttributeType.notSupported {
            values[AttributeType(rawValue: attribute.type.rawValue)] = attribute.value
        }
        return ConfigAttributes(values: values)
    }
}
