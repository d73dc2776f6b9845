// H264Syntax
