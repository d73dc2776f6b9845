// DecodeSession
