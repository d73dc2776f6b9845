/// The version of vaenc, printed by `vaenc --version` and written to streams in the user-data SEI message.
public let vaencVersion = "0.1.0"
