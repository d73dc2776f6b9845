// SoftwareEncode
