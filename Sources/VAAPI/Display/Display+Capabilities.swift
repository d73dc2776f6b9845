internal import CVA

extension Display {
    /// The profiles that the driver knows, for whatever entry point (vaQueryConfigProfiles).
    package func profiles() throws(VAError) -> [Profile] {
        var count = unsafe vaMaxNumProfiles(handle)
        var list = [VAProfile](repeating: VAProfileNone, count: Int(max(count, 0)))
        try check(unsafe vaQueryConfigProfiles(handle, &list, &count), "vaQueryConfigProfiles", vendor)
        return list.prefix(Int(count)).map { Profile(rawValue: $0.rawValue) }
    }

    /// What can be done with a profile (vaQueryConfigEntrypoints); empty where the driver does not know it.
    package func entryPoints(of profile: Profile) throws(VAError) -> [EntryPoint] {
        var count = unsafe vaMaxNumEntrypoints(handle)
        var list = [VAEntrypoint](repeating: VAEntrypointVLD, count: Int(max(count, 0)))
        let status = unsafe vaQueryConfigEntrypoints(handle, VAProfile(profile.rawValue), &list, &count)
        if StatusCode(rawValue: status) == .unsupportedProfile { return [] }
        try check(status, "vaQueryConfigEntrypoints", profile.name)
        return list.prefix(Int(count)).map { EntryPoint(rawValue: Int32(bitPattern: $0.rawValue)) }
    }

    /// All attributes of a profile at an entry point, in one vaGetConfigAttributes.
    package func attributes(of profile: Profile, at entryPoint: EntryPoint) throws(VAError) -> ConfigAttributes {
        var list = (0..<AttributeType.queried).map {
            VAConfigAttrib(type: VAConfigAttribType($0), value: AttributeType.notSupported)
        }
        try check(
            unsafe vaGetConfigAttributes(
                handle, VAProfile(profile.rawValue), VAEntrypoint(UInt32(bitPattern: entryPoint.rawValue)), &list,
                CInt(list.count)),
            "vaGetConfigAttributes", "\(profile)/\(entryPoint)")
        var values: [AttributeType: UInt32] = [:]
        for attribute in list where attribute.value != AttributeType.notSupported {
            values[AttributeType(rawValue: attribute.type.rawValue)] = attribute.value
        }
        return ConfigAttributes(values: values)
    }
}
