import Glibc

func logarithm10(_ value: Double) -> Double { log10(value) }
func exponential10(_ value: Double) -> Double { pow(10, value) }
