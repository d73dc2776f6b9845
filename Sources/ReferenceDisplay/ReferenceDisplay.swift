// ReferenceDisplay
