// ReferenceDecode
