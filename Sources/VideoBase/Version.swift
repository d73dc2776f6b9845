/// The version that `vaenc --version` prints and that streams name in their user-data SEI.
public let vaencVersion = "0.1.0"
