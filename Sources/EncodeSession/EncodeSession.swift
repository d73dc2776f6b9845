// EncodeSession
