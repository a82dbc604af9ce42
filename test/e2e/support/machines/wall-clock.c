// Loaded into a program before its C library: adds to the wall clock the offset in a file, eight bytes of nanoseconds. No other clock is touched.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile int64_t *offset_ns;
__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CLOCK_OFFSET_FILE");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *at = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) offset_ns = at;
  close(fd);
}
static int64_t off(void) { return offset_ns ? *offset_ns : 0; }
int clock_gettime(clockid_t clock, struct timespec *out) {
  int rc = syscall(SYS_clock_gettime, clock, out);
  if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    int64_t ns = (int64_t)out->tv_sec * 1000000000 + out->tv_nsec + off();
    out->tv_sec = ns / 1000000000; out->tv_nsec = ns % 1000000000;
  }
  return rc;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now; (void)zone;
  if (!out) return 0;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec; out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *out) {
  struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
