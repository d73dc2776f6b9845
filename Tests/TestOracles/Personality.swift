/// The values of VAENC_REFERENCE_PERSONALITY, which select the driver that the reference driver simulates.
public enum Personality {
    /// The capability dumps that support H.264 encoding; nil for the unrestricted driver.
    public static let all: [String?] = [
        nil, "i965-1616", "i965-1916", "i965-3E92", "i965-5916", "iHD-1912", "iHD-3E92", "iHD-4680", "iHD-46A6",
        "iHD-56A0", "iHD-5916", "iHD-8A52", "iHD-9A49", "iHD25nonfree-46A6", "iHD25nonfree-56A0", "iHD25nonfree-5916",
        "iHD25nonfree-7D55", "iHD25nonfree-8A52", "iHD25nonfree-9A49", "iHDnonfree-1912", "iHDnonfree-46A6",
        "iHDnonfree-56A0", "iHDnonfree-5916", "iHDnonfree-8A52", "iHDnonfree-9A49", "radeonsi-navi10",
        "radeonsi-navi21", "radeonsi-raven", "radeonsi-renoir", "radeonsi-vangogh", "radeonsi25-navi10",
        "radeonsi25-navi21", "radeonsi25-navi31", "radeonsi25-phoenix", "radeonsi25-raven", "radeonsi25-rembrandt",
        "radeonsi25-renoir", "radeonsi25-vangogh",
    ]
}
