// EncodePlanning
