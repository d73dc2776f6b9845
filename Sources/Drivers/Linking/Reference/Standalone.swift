// This file has no code. The linker settings of its target link a separate Swift runtime into the driver file.
