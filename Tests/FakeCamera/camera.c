// Simulates cameras without a kernel, for LD_PRELOAD: answers the system calls of libv4l2 for /dev/video0 to 31, which
// libv4l2 makes by syscall(2). A camera's descriptor is the reading end of a pipe that holds a byte for each filled
// buffer, so that poll(2) works without help. Each of its buffers is a memfd, which VIDIOC_EXPBUF also returns.
//
// FAKE_CAMERAS is a list such as "9:formats=YUYV+NV12,sizes=64x48+128x96,rate=50,unplug=30;8:…":
//   formats, sizes, rate      the formats and sizes that it lists; each size has all rates up to this one
//   card                      its name
//   base                      luma of its background
//   pitch                     bytes added to each row
//   jpeg=FILE                 a file of consecutive MJPG pictures, which are repeated without end
//   stall, unplug             from picture N on, no picture comes or the device is gone; earlier pictures were taken
//   interrupt, kill           the program gets SIGINT or SIGKILL when it has taken N pictures and returned all buffers
//   gap, error, short         picture N: three numbers are skipped before it, it has the error flag, or half its bytes
//   damaged                   the second half of MJPG picture N is zeros
//   back                      picture N has an earlier timestamp than the picture before it
//   offset                    microseconds added to each timestamp
//   stretch                   timestamps advance by this factor faster than pictures come
//   wallclock                 timestamps are of another clock and are not marked as monotonic
//   skips                     a picture without a free buffer is lost; otherwise it waits for one
//   noexport                  VIDIOC_EXPBUF fails
//   busy, denied, hangopen, hangoff   open or STREAMOFF fail or do not return
//   plain                     the device captures nothing
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES = 32, BUFFERS = 32, SIZES = 8, FORMATS = 8 };

struct Buffer {
    enum { FREE, QUEUED, DONE } state;
    struct v4l2_buffer filled;
};

struct Camera {
    int is_there, fd, writer, memory[BUFFERS];
    char card[32], jpeg[512];
    unsigned formats[FORMATS], format_count, size_count, width[SIZES], height[SIZES];
    double rate;
    long stall, unplug, interrupt, kill, stretch, gap, error, cut, damaged, back, base, extra, offset;
    int wallclock, skips, noexport, busy, denied, hangopen, hangoff, plain;
    // The current settings.
    unsigned format, w, h;
    double set_rate;
    // The state of streaming.
    pthread_mutex_t lock;
    pthread_t thread;
    int streaming, unplugged;
    unsigned count, length, order[BUFFERS], queued, done[BUFFERS], done_count;
    struct Buffer buffers[BUFFERS];
    unsigned char *pixels[BUFFERS], *file;
    size_t file_size;
};

static struct Camera cameras[DEVICES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static long raw(long n, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static void set(struct Camera *c, const char *key, char *value) {
    long number = value ? atol(value) : 1;
    char *rest = value, *part;
    if (!strcmp(key, "formats")) {
        while ((part = strsep(&rest, "+"))) c->formats[c->format_count++] = v4l2_fourcc(part[0], part[1], part[2], part[3]);
    } else if (!strcmp(key, "sizes")) {
        while ((part = strsep(&rest, "+")) && c->size_count < SIZES) {
            sscanf(part, "%ux%u", &c->width[c->size_count], &c->height[c->size_count]);
            c->size_count++;
        }
    } else if (!strcmp(key, "card")) snprintf(c->card, sizeof c->card, "%s", value);
    else if (!strcmp(key, "jpeg")) snprintf(c->jpeg, sizeof c->jpeg, "%s", value);
    else if (!strcmp(key, "rate")) c->rate = atof(value);
    else if (!strcmp(key, "stall")) c->stall = number;
    else if (!strcmp(key, "unplug")) c->unplug = number;
    else if (!strcmp(key, "interrupt")) c->interrupt = number;
    else if (!strcmp(key, "kill")) c->kill = number;
    else if (!strcmp(key, "stretch")) c->stretch = number;
    else if (!strcmp(key, "gap")) c->gap = number;
    else if (!strcmp(key, "error")) c->error = number;
    else if (!strcmp(key, "short")) c->cut = number;
    else if (!strcmp(key, "damaged")) c->damaged = number;
    else if (!strcmp(key, "back")) c->back = number;
    else if (!strcmp(key, "base")) c->base = number;
    else if (!strcmp(key, "pitch")) c->extra = number;
    else if (!strcmp(key, "offset")) c->offset = number;
    else if (!strcmp(key, "wallclock")) c->wallclock = 1;
    else if (!strcmp(key, "skips")) c->skips = 1;
    else if (!strcmp(key, "noexport")) c->noexport = 1;
    else if (!strcmp(key, "busy")) c->busy = 1;
    else if (!strcmp(key, "denied")) c->denied = 1;
    else if (!strcmp(key, "hangopen")) c->hangopen = 1;
    else if (!strcmp(key, "hangoff")) c->hangoff = 1;
    else if (!strcmp(key, "plain")) c->plain = 1;
    else {
        fprintf(stderr, "fake camera: no such key: %s\n", key);
        abort();
    }
}

static void configure(void) {
    const char *given = getenv("FAKE_CAMERAS");
    char *copy = strdup(given ? given : ""), *rest = copy, *one;
    while ((one = strsep(&rest, ";"))) {
        char *keys = one, *number = strsep(&keys, ":"), *item;
        if (!*number || atoi(number) >= DEVICES) continue;
        struct Camera *c = &cameras[atoi(number)];
        memset(c, 0, sizeof *c);
        c->is_there = 1;
        c->fd = -1;
        c->rate = 50;
        c->base = 100;
        c->stretch = 1;
        c->stall = c->unplug = c->interrupt = c->kill = c->gap = c->error = c->cut = c->damaged = c->back = -1;
        snprintf(c->card, sizeof c->card, "Fake camera %s", number);
        pthread_mutex_init(&c->lock, 0);
        while ((item = strsep(&keys, ","))) {
            char *value = item, *key = strsep(&value, "=");
            if (*key) set(c, key, value);
        }
        if (!c->format_count) c->formats[c->format_count++] = V4L2_PIX_FMT_YUYV;
        if (!c->size_count) { c->width[0] = 64; c->height[0] = 48; c->size_count = 1; }
        c->format = c->formats[0];
        c->w = c->width[0];
        c->h = c->height[0];
        c->set_rate = c->rate;
        if (*c->jpeg) {
            FILE *file = fopen(c->jpeg, "rb");
            if (!file) abort();
            c->file = malloc(1 << 22);
            c->file_size = fread(c->file, 1, 1 << 22, file);
            fclose(file);
        }
    }
    free(copy);
}

static struct Camera *of(long fd) {
    pthread_once(&once, configure);
    for (int i = 0; i < DEVICES; i++) if (cameras[i].is_there && cameras[i].fd >= 0 && cameras[i].fd == fd) return &cameras[i];
    return 0;
}

static unsigned pitch(const struct Camera *c) {
    return (unsigned)(c->format == V4L2_PIX_FMT_YUYV ? c->w * 2 : c->w) + (unsigned)c->extra;
}
static unsigned bytes(const struct Camera *c) {
    if (c->format == V4L2_PIX_FMT_MJPEG) return c->w * c->h * 2 + 65536;
    return c->format == V4L2_PIX_FMT_YUYV ? pitch(c) * c->h : pitch(c) * c->h * 3 / 2;
}

// Returns the luma: the picture's number in 16 blocks across the upper quarter, and a moving slope below them.
static unsigned luma(const struct Camera *c, unsigned x, unsigned y, unsigned n) {
    if (y < c->h / 4) return n >> (15 - x * 16 / c->w) & 1 ? 220 : 30;
    return (unsigned)c->base + ((x + y + n * 2) & 31);
}

static unsigned draw(struct Camera *c, unsigned char *to, unsigned n) {
    if (c->format == V4L2_PIX_FMT_MJPEG) {
        // Picture n of the file, found by the markers of its beginning.
        size_t starts[1024], found = 0;
        for (size_t i = 0; i + 3 < c->file_size && found < 1023; i++)
            if (c->file[i] == 0xff && c->file[i + 1] == 0xd8 && c->file[i + 2] == 0xff) starts[found++] = i;
        if (!found) abort();
        starts[found] = c->file_size;
        size_t at = n % found, size = starts[at + 1] - starts[at];
        memcpy(to, c->file + starts[at], size);
        if ((long)n == c->damaged) memset(to + size / 2, 0, size - size / 2);
        return (unsigned)size;
    }
    unsigned p = pitch(c), u = (unsigned)(c->base + 10), v = (unsigned)(200 - c->base / 2);
    memset(to, 77, bytes(c));
    for (unsigned y = 0; y < c->h; y++)
        for (unsigned x = 0; x < c->w; x++) {
            if (c->format == V4L2_PIX_FMT_YUYV) {
                to[y * p + x * 2] = (unsigned char)luma(c, x, y, n);
                to[y * p + x * 2 + 1] = (unsigned char)(x & 1 ? v : u);
            } else to[y * p + x] = (unsigned char)luma(c, x, y, n);
        }
    unsigned char *chroma = to + p * c->h;
    for (unsigned y = 0; y < c->h / 2; y++)
        for (unsigned x = 0; x < c->w / 2; x++) {
            if (c->format == V4L2_PIX_FMT_NV12) {
                chroma[y * p + x * 2] = (unsigned char)u;
                chroma[y * p + x * 2 + 1] = (unsigned char)v;
            } else if (c->format == V4L2_PIX_FMT_YUV420) {
                chroma[y * (p / 2) + x] = (unsigned char)u;
                chroma[p / 2 * (c->h / 2) + y * (p / 2) + x] = (unsigned char)v;
            }
        }
    return bytes(c);
}

static long long nanoseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// Returns how often the other threads have fallen asleep, or -1 if one is awake.
static long sleeps(void) {
    long total = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks) abort();
    for (struct dirent *entry; total >= 0 && (entry = readdir(tasks));) {
        char path[300], line[300], state = 'S';
        long number = atol(entry->d_name), count = 0;
        if (!number || number == raw(SYS_gettid, 0, 0, 0, 0, 0, 0)) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        while (fgets(line, sizeof line, file)) {
            sscanf(line, "State: %c", &state);
            sscanf(line, "voluntary_ctxt_switches: %ld", &count);
        }
        fclose(file);
        total = state == 'S' ? total + count : -1;
    }
    closedir(tasks);
    return total;
}

// Waits until the program has nothing to do.
static void settle(void) {
    long before = -1, now;
    for (int wait = 0; wait < 60000 && ((now = sleeps()) < 0 || now != before); wait++) {
        before = now;
        usleep(2000);
    }
}

static void *stream(void *context) {
    struct Camera *c = context;
    long long start = nanoseconds(CLOCK_MONOTONIC);
    unsigned sequence = 0;
    for (long n = 0;; n++, sequence++) {
        long long due = start + (long long)((double)(n + 1) * 1e9 / c->set_rate);
        struct timespec until = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
        pthread_mutex_lock(&c->lock);
        if (!c->streaming) { pthread_mutex_unlock(&c->lock); return 0; }
        int ends = n == c->interrupt || n == c->kill, fills = !ends && (c->stall < 0 || n < c->stall) && (c->unplug < 0 || n < c->unplug);
        // No more pictures are filled before that.
        for (int wait = 0; wait < 60000 && c->streaming
             && (ends ? c->queued < c->count : n == c->unplug ? c->done_count : fills && !c->skips && !c->queued); wait++) {
            pthread_mutex_unlock(&c->lock);
            usleep(1000);
            pthread_mutex_lock(&c->lock);
        }
        if (ends) {
            settle();
            kill(getpid(), n == c->kill ? SIGKILL : SIGINT);
            pthread_mutex_unlock(&c->lock);
            return 0;
        }
        if (c->unplug >= 0 && n >= c->unplug) {
            c->unplugged = 1;
            close(c->writer);
            c->writer = -1;
            pthread_mutex_unlock(&c->lock);
            return 0;
        }
        if (n == c->gap) sequence += 3;
        if (fills && c->queued) {
            unsigned index = c->order[0];
            memmove(c->order, c->order + 1, --c->queued * sizeof *c->order);
            struct v4l2_buffer *b = &c->buffers[index].filled;
            memset(b, 0, sizeof *b);
            b->index = index;
            b->type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
            b->memory = V4L2_MEMORY_MMAP;
            b->field = V4L2_FIELD_NONE;
            b->length = c->length;
            b->sequence = sequence;
            b->bytesused = draw(c, c->pixels[index], (unsigned)n);
            if (n == c->cut) b->bytesused /= 2;
            b->flags = n == c->error ? V4L2_BUF_FLAG_ERROR : 0;
            long long stamp = c->wallclock ? nanoseconds(CLOCK_REALTIME) : start + (due - start) * c->stretch;
            if (!c->wallclock) b->flags |= V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
            if (n == c->back) stamp -= 200000000;
            stamp += c->offset * 1000;
            b->timestamp.tv_sec = stamp / 1000000000;
            b->timestamp.tv_usec = stamp / 1000 % 1000000;
            c->buffers[index].state = DONE;
            c->done[c->done_count++] = index;
            char one = 1;
            if (write(c->writer, &one, 1) != 1) abort();
        }
        pthread_mutex_unlock(&c->lock);
    }
}

static void stop(struct Camera *c) {
    pthread_mutex_lock(&c->lock);
    int was = c->streaming;
    c->streaming = 0;
    char drop;
    while (c->done_count) if (raw(SYS_read, c->fd, (long)&drop, 1, 0, 0, 0) == 1) c->done_count--; else break;
    c->queued = c->done_count = 0;
    for (int i = 0; i < BUFFERS; i++) c->buffers[i].state = FREE;
    pthread_mutex_unlock(&c->lock);
    if (was) pthread_join(c->thread, 0);
}

static void drop_buffers(struct Camera *c) {
    for (unsigned i = 0; i < c->count; i++) {
        munmap(c->pixels[i], c->length);
        raw(SYS_close, c->memory[i], 0, 0, 0, 0, 0);
    }
    c->count = 0;
}

static int fail(int code) {
    errno = code;
    return -1;
}

static int answer(struct Camera *c, unsigned long request, void *argument) {
    if (c->unplugged) return fail(ENODEV);
    request &= 0xffffffff;
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *a = argument;
        memset(a, 0, sizeof *a);
        strcpy((char *)a->driver, "fake");
        strcpy((char *)a->card, c->card);
        snprintf((char *)a->bus_info, sizeof a->bus_info, "platform:fake-%d", (int)(c - cameras));
        a->device_caps = c->plain ? V4L2_CAP_META_CAPTURE : V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
        a->capabilities = a->device_caps | V4L2_CAP_DEVICE_CAPS;
        return 0;
    }
    case VIDIOC_ENUM_FMT: {
        struct v4l2_fmtdesc *a = argument;
        if (a->type != V4L2_BUF_TYPE_VIDEO_CAPTURE || a->index >= c->format_count) return fail(EINVAL);
        a->flags = c->formats[a->index] == V4L2_PIX_FMT_MJPEG ? V4L2_FMT_FLAG_COMPRESSED : 0;
        a->pixelformat = c->formats[a->index];
        snprintf((char *)a->description, sizeof a->description, "Fake %.4s", (char *)&a->pixelformat);
        return 0;
    }
    case VIDIOC_ENUM_FRAMESIZES: {
        struct v4l2_frmsizeenum *a = argument;
        if (a->index >= c->size_count) return fail(EINVAL);
        a->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        a->discrete.width = c->width[a->index];
        a->discrete.height = c->height[a->index];
        return 0;
    }
    case VIDIOC_ENUM_FRAMEINTERVALS: {
        struct v4l2_frmivalenum *a = argument;
        if (a->index > 1) return fail(EINVAL);
        a->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        a->discrete.numerator = 1000;
        a->discrete.denominator = (unsigned)(c->rate * (a->index ? 500 : 1000));
        return 0;
    }
    case VIDIOC_ENUMINPUT: {
        struct v4l2_input *a = argument;
        if (a->index > 0) return fail(EINVAL);
        strcpy((char *)a->name, "Lens");
        a->type = V4L2_INPUT_TYPE_CAMERA;
        return 0;
    }
    case VIDIOC_G_INPUT: *(int *)argument = 0; return 0;
    case VIDIOC_S_INPUT: return *(int *)argument ? fail(EINVAL) : 0;
    case VIDIOC_S_FMT:
    case VIDIOC_TRY_FMT:
    case VIDIOC_G_FMT: {
        struct v4l2_format *a = argument;
        if (a->type != V4L2_BUF_TYPE_VIDEO_CAPTURE) return fail(EINVAL);
        struct Camera wanted = *c;
        if (request != VIDIOC_G_FMT) {
            wanted.format = c->formats[0];
            for (unsigned i = 0; i < c->format_count; i++) if (c->formats[i] == a->fmt.pix.pixelformat) wanted.format = c->formats[i];
            unsigned best = 0;
            for (unsigned i = 0; i < c->size_count; i++)
                if (c->width[i] == a->fmt.pix.width && c->height[i] == a->fmt.pix.height) best = i;
            wanted.w = c->width[best];
            wanted.h = c->height[best];
        }
        if (request == VIDIOC_S_FMT) { c->format = wanted.format; c->w = wanted.w; c->h = wanted.h; }
        memset(&a->fmt.pix, 0, sizeof a->fmt.pix);
        a->fmt.pix.width = wanted.w;
        a->fmt.pix.height = wanted.h;
        a->fmt.pix.pixelformat = wanted.format;
        a->fmt.pix.field = V4L2_FIELD_NONE;
        a->fmt.pix.bytesperline = wanted.format == V4L2_PIX_FMT_MJPEG ? 0 : pitch(&wanted);
        a->fmt.pix.sizeimage = bytes(&wanted);
        a->fmt.pix.colorspace = wanted.format == V4L2_PIX_FMT_MJPEG ? V4L2_COLORSPACE_JPEG : V4L2_COLORSPACE_SRGB;
        return 0;
    }
    case VIDIOC_S_PARM: {
        struct v4l2_streamparm *a = argument;
        struct v4l2_fract *t = &a->parm.capture.timeperframe;
        double rate = t->numerator ? (double)t->denominator / t->numerator : c->rate;
        c->set_rate = rate < c->rate * 0.75 ? c->rate / 2 : c->rate;
    }  // fall through
    case VIDIOC_G_PARM: {
        struct v4l2_streamparm *a = argument;
        a->parm.capture.capability = V4L2_CAP_TIMEPERFRAME;
        a->parm.capture.timeperframe.numerator = 1000;
        a->parm.capture.timeperframe.denominator = (unsigned)(c->set_rate * 1000);
        return 0;
    }
    case VIDIOC_REQBUFS: {
        struct v4l2_requestbuffers *a = argument;
        if (a->memory != V4L2_MEMORY_MMAP) return fail(EINVAL);
        drop_buffers(c);
        c->count = a->count > BUFFERS ? BUFFERS : a->count;
        a->count = c->count;
        c->length = (bytes(c) + 4095) & ~4095u;
        for (unsigned i = 0; i < c->count; i++) {
            c->memory[i] = memfd_create("camera", MFD_CLOEXEC);
            if (c->memory[i] < 0 || ftruncate(c->memory[i], (off_t)c->length)) return -1;
            c->pixels[i] = mmap(0, c->length, PROT_READ | PROT_WRITE, MAP_SHARED, c->memory[i], 0);
        }
        return 0;
    }
    case VIDIOC_QUERYBUF: {
        struct v4l2_buffer *a = argument;
        if (a->index >= c->count) return fail(EINVAL);
        a->length = c->length;
        a->m.offset = a->index * c->length;
        a->flags = 0;
        return 0;
    }
    case VIDIOC_EXPBUF: {
        struct v4l2_exportbuffer *a = argument;
        if (c->noexport || a->index >= c->count) return fail(ENOTTY);
        return (a->fd = fcntl(c->memory[a->index], F_DUPFD_CLOEXEC, 0)) < 0 ? -1 : 0;
    }
    case VIDIOC_QBUF: {
        struct v4l2_buffer *a = argument;
        int code = 0;
        pthread_mutex_lock(&c->lock);
        if (a->index >= c->count || c->buffers[a->index].state != FREE) code = EINVAL;
        else {
            c->buffers[a->index].state = QUEUED;
            c->order[c->queued++] = a->index;
        }
        pthread_mutex_unlock(&c->lock);
        return code ? fail(code) : 0;
    }
    case VIDIOC_DQBUF: {
        char one;
        if (raw(SYS_read, c->fd, (long)&one, 1, 0, 0, 0) != 1) return fail(c->unplugged ? ENODEV : EAGAIN);
        pthread_mutex_lock(&c->lock);
        unsigned index = c->done[0];
        memmove(c->done, c->done + 1, --c->done_count * sizeof *c->done);
        c->buffers[index].state = FREE;
        *(struct v4l2_buffer *)argument = c->buffers[index].filled;
        pthread_mutex_unlock(&c->lock);
        return 0;
    }
    case VIDIOC_STREAMON:
        c->streaming = 1;
        return pthread_create(&c->thread, 0, stream, c) ? fail(EAGAIN) : 0;
    case VIDIOC_STREAMOFF:
        if (c->hangoff) for (;;) pause();
        stop(c);
        return 0;
    default: return fail(ENOTTY);
    }
}

static int open_camera(const char *path) {
    pthread_once(&once, configure);
    int number = -1, length = 0;
    if (!path || sscanf(path, "/dev/video%d%n", &number, &length) != 1 || path[length] || number < 0) return -2;
    if (number >= DEVICES) return fail(ENOENT);
    struct Camera *c = &cameras[number];
    if (!c->is_there) return fail(ENOENT);
    if (c->denied) return fail(EACCES);
    if (c->busy || c->fd >= 0) return fail(EBUSY);
    if (c->hangopen) for (;;) pause();
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) return -1;
    c->writer = ends[1];
    c->unplugged = 0;
    return c->fd = ends[0];
}

static long close_camera(struct Camera *c) {
    stop(c);
    drop_buffers(c);
    if (c->writer >= 0) close(c->writer);
    long fd = c->fd;
    c->fd = -1;
    return raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

long syscall(long n, ...) {
    va_list list;
    va_start(list, n);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    struct Camera *c;
    int fd;
    switch (n) {
    case SYS_openat:
        if ((fd = open_camera((const char *)a[1])) != -2) return fd;
        break;
    case SYS_open:
        if ((fd = open_camera((const char *)a[0])) != -2) return fd;
        break;
    case SYS_ioctl:
        if ((c = of((int)a[0]))) return answer(c, (unsigned long)a[1], (void *)a[2]);
        break;
    case SYS_mmap:
        // A buffer's offset, which VIDIOC_QUERYBUF returns, is its number times its length.
        if ((c = of((int)a[4]))) return raw(n, a[0], a[1], a[2], a[3], c->memory[(unsigned)a[5] / c->length], 0);
        break;
    case SYS_close:
        if ((c = of((int)a[0]))) return close_camera(c);
        break;
    }
    return raw(n, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    struct Camera *c = of(fd);
    return c ? answer(c, request, argument) : (int)raw(SYS_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    int fd = open_camera(path);
    return fd != -2 ? fd : (int)raw(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    int fd = open_camera(path);
    return fd != -2 ? fd : (int)raw(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}
