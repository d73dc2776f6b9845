internal import CVA

extension VADriverVTable {
    mutating func fillConfigs() {
        unsafe vaTerminate = { context in
            let status = unsafe call(context) { $0.terminate() }
            if status == VA_STATUS_SUCCESS, let context = unsafe context, let data = unsafe context.pointee.pDriverData {
                unsafe context.pointee.pDriverData = nil
                unsafe Unmanaged<Driver>.fromOpaque(data).release()
            }
            return status
        }
        unsafe vaQueryConfigProfiles = { context, profiles, count in
            unsafe call(context) { driver in
                let answer = driver.capabilities.profiles
                let count = try unsafe resultPointer(count)
                try unsafe store(answer, profiles)
                unsafe count.pointee = Int32(answer.count)
            }
        }
        unsafe vaQueryConfigEntrypoints = { context, profile, entrypoints, count in
            unsafe call(context) { driver in
                let answer = driver.capabilities.entrypoints(of: profile)
                guard !answer.isEmpty else {
                    throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_PROFILE, "profile \(profile.rawValue) is not supported")
                }
                let count = try unsafe resultPointer(count)
                try unsafe store(answer, entrypoints)
                unsafe count.pointee = Int32(answer.count)
            }
        }
        unsafe vaGetConfigAttributes = { context, profile, entrypoint, attributes, count in
            unsafe call(context) { driver in
                let types = try unsafe list(attributes, count).map(\.type)
                let values = try driver.attributes(profile, entrypoint, types)
                guard !values.isEmpty else { return }
                try unsafe store(zip(types, values).map { VAConfigAttrib(type: $0, value: $1) }, attributes)
            }
        }
        unsafe vaCreateConfig = { context, profile, entrypoint, attributes, count, config in
            unsafe call(context) { driver in
                let config = try unsafe resultPointer(config)
                unsafe config.pointee = try driver.createConfig(profile, entrypoint, list(attributes, count))
            }
        }
        unsafe vaDestroyConfig = { context, config in
            unsafe call(context) { try $0.destroyConfig(config) }
        }
        unsafe vaQueryConfigAttributes = { context, config, profile, entrypoint, attributes, count in
            unsafe call(context) { driver in
                let config = try driver.monitor.withLock { try driver.config(config) }
                let (profile, entrypoint) = (try unsafe resultPointer(profile), try unsafe resultPointer(entrypoint))
                let count = try unsafe resultPointer(count)
                try unsafe store(config.attributes, attributes)
                unsafe profile.pointee = config.entry.profile
                unsafe entrypoint.pointee = config.entry.entrypoint
                unsafe count.pointee = Int32(config.attributes.count)
            }
        }
        unsafe vaCreateContext = { context, config, width, height, _, targets, count, id in
            unsafe call(context) { driver in
                let id = try unsafe resultPointer(id)
                let targets = try unsafe list(targets, count)
                unsafe id.pointee = try driver.createContext(
                    config: config, width: Int(width), height: Int(height), targets: targets)
            }
        }
        unsafe vaDestroyContext = { context, id in
            unsafe call(context) { try $0.destroyContext(id) }
        }
    }
}
