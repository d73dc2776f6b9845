// NALWriting
