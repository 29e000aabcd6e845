/* Stands between a process and its disk (LD_PRELOAD), for the files below LEASEHOLD_DEVICE_ROOT.
 *
 * LEASEHOLD_DEVICE_TRACE=FILE writes down every change of a file or directory and every flush, in
 * the order in which they took effect. One lock is held over the call and its entry, so the trace
 * is a true order.  Entry: u8 kind, u32 path length, u32 second path length, u64 offset, u32 data
 * length, path, second path, data.
 *
 * LEASEHOLD_DEVICE_CONTROL=FILE, 36 bytes that the test writes at any time, makes calls fail or
 * stall: see struct control. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { DATA = 1, FLUSH = 2, META = 4 };
enum { SLICE_MS = 5 };

struct control {
  int32_t calls;     /* which: DATA pwrite and writev, FLUSH fdatasync and fsync, META O_DSYNC writes */
  int32_t countdown; /* the so many-th from now on; 0: none */
  int32_t repeat;    /* and so many after it */
  int32_t error;     /* errno; 0: the call is made after all (after the stall) */
  int32_t stall_ms;
  int32_t partial;   /* before it fails, a data write takes so many percent of its bytes */
  int32_t hits;      /* counted here */
  int32_t seen;
  int32_t let_go;    /* while 1, a call that stalls goes on at once */
};

static volatile struct control *control;
static const char *root;
static size_t root_length;
static int trace = -1;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

__attribute__((constructor)) static void begin(void) {
  root = getenv("LEASEHOLD_DEVICE_ROOT");
  if (root == NULL) return;
  root_length = strlen(root);
  const char *file = getenv("LEASEHOLD_DEVICE_TRACE");
  if (file != NULL) trace = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  file = getenv("LEASEHOLD_DEVICE_CONTROL");
  int fd = file == NULL ? -1 : open(file, O_RDWR | O_CLOEXEC);
  if (fd >= 0) {
    void *at = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) control = at;
    close(fd);
  }
}

static int is_ours(const char *path) {
  return root != NULL && strncmp(path, root, root_length) == 0;
}

/* The path of a descriptor; empty when it is none of ours. */
static int path_of(int fd, char *path, size_t size) {
  char link[40];
  if (root == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_ours(path);
}

static void put(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t done = REAL(write)(trace, at, length);
    if (done <= 0) abort();
    at += done;
    length -= (size_t)done;
  }
}

static void note(char kind, const char *path, const char *other, uint64_t offset,
                 const struct iovec *data, int count, size_t length) {
  if (trace < 0) return;
  uint32_t sizes[2] = {(uint32_t)strlen(path), (uint32_t)strlen(other)};
  uint32_t bytes = (uint32_t)length;
  put(&kind, 1);
  put(sizes, sizeof sizes);
  put(&offset, sizeof offset);
  put(&bytes, sizeof bytes);
  put(path, sizes[0]);
  put(other, sizes[1]);
  for (int i = 0; i < count && length > 0; i++) {
    size_t part = data[i].iov_len < length ? data[i].iov_len : length;
    put(data[i].iov_base, part);
    length -= part;
  }
}

/* Returns 1 when this call is to fail, with errno set. */
static int fails(int call) {
  if (control == NULL || (control->calls & call) == 0) return 0;
  int hit = 0, error = control->error, stall = control->stall_ms;
  pthread_mutex_lock(&lock);
  control->seen++;
  if (control->countdown > 1) {
    control->countdown--;
  } else if (control->countdown == 1) {
    hit = 1;
    control->hits++;
    if (control->repeat > 0) control->repeat--;
    else control->countdown = 0;
  }
  pthread_mutex_unlock(&lock);
  if (!hit) return 0;
  for (int past = 0; past < stall && !control->let_go; past += SLICE_MS) {
    struct timespec slice = {0, SLICE_MS * 1000000L};
    nanosleep(&slice, NULL);
  }
  if (error == 0) return 0;
  errno = error;
  return 1;
}

static int is_meta(int fd) {
  return (fcntl(fd, F_GETFL) & O_DSYNC) != 0;
}

static ssize_t write_some(int fd, const struct iovec *data, int count, off64_t offset) {
  return offset < 0 ? REAL(writev)(fd, data, count)
                    : REAL(pwritev64)(fd, data, count, offset);
}

/* offset < 0: at the descriptor's own place. */
static ssize_t writes(int fd, const struct iovec *data, int count, off64_t offset) {
  char path[4096];
  struct stat64 file;
  if (!path_of(fd, path, sizeof path) || fstat64(fd, &file) != 0 || !S_ISREG(file.st_mode))
    return write_some(fd, data, count, offset);
  int meta = is_meta(fd);
  int failing = fails(meta ? META : DATA);
  int error = errno;
  if (failing && (meta || control->partial == 0)) return -1;
  pthread_mutex_lock(&lock);
  off64_t at = offset < 0 ? lseek64(fd, 0, SEEK_CUR) : offset;
  size_t length = 0;
  for (int i = 0; i < count; i++) length += data[i].iov_len;
  ssize_t done;
  if (failing) {
    /* A device that takes a part and then nothing: the part is on it. */
    size_t part = length * (size_t)control->partial / 100;
    size_t first = data[0].iov_len < part ? data[0].iov_len : part;
    done = REAL(pwrite64)(fd, data[0].iov_base, first, at);
    if (done > 0) note('W', path, "", (uint64_t)at, data, count, (size_t)done);
    done = -1;
  } else {
    done = write_some(fd, data, count, offset);
    error = errno;
    if (done > 0) note(meta ? 'M' : 'W', path, "", (uint64_t)at, data, count, (size_t)done);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  struct iovec data = {(void *)bytes, length};
  return root == NULL ? REAL(write)(fd, bytes, length) : writes(fd, &data, 1, -1);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  struct iovec data = {(void *)bytes, length};
  return writes(fd, &data, 1, offset);
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  return pwrite64(fd, bytes, length, offset);
}
ssize_t writev(int fd, const struct iovec *data, int count) {
  return root == NULL ? REAL(writev)(fd, data, count) : writes(fd, data, count, -1);
}
ssize_t pwritev64(int fd, const struct iovec *data, int count, off64_t offset) {
  return writes(fd, data, count, offset);
}

static int flushes(int fd, int (*flush)(int)) {
  char path[4096];
  if (!path_of(fd, path, sizeof path)) return flush(fd);
  if (fails(FLUSH)) return -1;
  pthread_mutex_lock(&lock);
  int done = flush(fd);
  int error = errno;
  if (done == 0) note('S', path, "", 0, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int fdatasync(int fd) { return flushes(fd, REAL(fdatasync)); }
int fsync(int fd) { return flushes(fd, REAL(fsync)); }

int ftruncate64(int fd, off64_t length) {
  char path[4096];
  if (!path_of(fd, path, sizeof path)) return REAL(ftruncate64)(fd, length);
  pthread_mutex_lock(&lock);
  int done = REAL(ftruncate64)(fd, length);
  if (done == 0) note('T', path, "", (uint64_t)length, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  return done;
}

/* Names: every change is noted with the lock held, like the rest. */
#define NAMED(kind, path, other, call)                       \
  if (!is_ours(path)) return call;                           \
  pthread_mutex_lock(&lock);                                 \
  int done = call;                                           \
  int error = errno;                                         \
  if (done == 0) note(kind, path, other, 0, NULL, 0, 0);     \
  pthread_mutex_unlock(&lock);                               \
  errno = error;                                             \
  return done

int rename(const char *path, const char *other) {
  NAMED('R', path, other, REAL(rename)(path, other));
}
int unlink(const char *path) { NAMED('U', path, "", REAL(unlink)(path)); }
int rmdir(const char *path) { NAMED('U', path, "", REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) { NAMED('D', path, "", REAL(mkdir)(path, mode)); }
char *mkdtemp(char *path) {
  if (root == NULL || !is_ours(path)) return REAL(mkdtemp)(path);
  pthread_mutex_lock(&lock);
  char *made = REAL(mkdtemp)(path);
  if (made != NULL) note('D', made, "", 0, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  return made;
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (!is_ours(path) || (flags & O_CREAT) == 0) return REAL(open64)(path, flags, mode);
  pthread_mutex_lock(&lock);
  int fresh = access(path, F_OK) != 0;
  int fd = REAL(open64)(path, flags, mode);
  int error = errno;
  if (fd >= 0 && (fresh || (flags & O_TRUNC) != 0))
    note(fresh ? 'C' : 'T', path, "", 0, NULL, 0, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}
