// V4L2 through libv4l2. Swift cannot see the request codes, which are macros: each has a function here.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define VAENC_REQUEST(name) static inline unsigned long vaenc_##name(void) { return name; }
VAENC_REQUEST(VIDIOC_QUERYCAP)
VAENC_REQUEST(VIDIOC_ENUM_FMT)
VAENC_REQUEST(VIDIOC_ENUM_FRAMESIZES)
VAENC_REQUEST(VIDIOC_ENUM_FRAMEINTERVALS)
VAENC_REQUEST(VIDIOC_G_FMT)
VAENC_REQUEST(VIDIOC_S_FMT)
VAENC_REQUEST(VIDIOC_TRY_FMT)
VAENC_REQUEST(VIDIOC_G_PARM)
VAENC_REQUEST(VIDIOC_S_PARM)
VAENC_REQUEST(VIDIOC_REQBUFS)
VAENC_REQUEST(VIDIOC_QUERYBUF)
VAENC_REQUEST(VIDIOC_QBUF)
VAENC_REQUEST(VIDIOC_DQBUF)
VAENC_REQUEST(VIDIOC_EXPBUF)
VAENC_REQUEST(VIDIOC_STREAMON)
VAENC_REQUEST(VIDIOC_STREAMOFF)
VAENC_REQUEST(VIDIOC_ENUMINPUT)
VAENC_REQUEST(VIDIOC_G_INPUT)
VAENC_REQUEST(VIDIOC_S_INPUT)
VAENC_REQUEST(VIDIOC_SUBSCRIBE_EVENT)
VAENC_REQUEST(VIDIOC_DQEVENT)
#undef VAENC_REQUEST

/// Opens a device through libv4l2. Returns the file descriptor, or -1 with errno set: ELIBACC if libv4l2 cannot be
/// loaded. Plug-ins are always enabled. Conversions are enabled only if `converts` is true, because they also affect
/// formats that need no conversion: pictures are copied without row padding, and without DMA-BUFs.
int vaenc_v4l2_open(const char *_Nonnull path, int flags, _Bool converts);
// These functions are those of libv4l2. Call them only with a descriptor of vaenc_v4l2_open.
int vaenc_v4l2_ioctl(int descriptor, unsigned long request, void *_Nullable argument);
int vaenc_v4l2_close(int descriptor);
void *_Nullable vaenc_v4l2_mmap(size_t length, int protection, int flags, int descriptor, int64_t offset);
int vaenc_v4l2_munmap(void *_Nullable start, size_t length);

/// Returns an eventfd that wakes a poll; -1 with errno set if it cannot be created.
static inline int vaenc_wake_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
/// Returns whether QUERYBUF returned a conversion buffer of libv4l2: devices do not use this offset.
static inline _Bool vaenc_is_converted(unsigned offset, unsigned index) { return offset == 0xabcdef00u + index; }

/// Disables the messages that ALSA's library, if it is installed, writes to stderr on the calling thread. Errors are
/// reported by return codes.
void vaenc_silence_alsa(void);
