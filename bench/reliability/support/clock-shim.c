/* A library that is preloaded into the plane's runtime: it adds an offset to the machine's wall clock, 8 bytes of nanoseconds in the file
   that RELIABILITY_CLOCK names. libfaketime is no alternative: it resolves its symbols while the allocator holds its lock, and the runtime
   then hangs before it starts. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
  const char *path = getenv("RELIABILITY_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) offset = mapped;
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *shown) {
  int failed = (int)syscall(SYS_clock_gettime, clock, shown);
  if (failed || !offset || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
  int64_t total = (int64_t)shown->tv_sec * 1000000000 + shown->tv_nsec + *offset;
  shown->tv_sec = total / 1000000000;
  shown->tv_nsec = total % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict shown, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  shown->tv_sec = now.tv_sec;
  shown->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *shown) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (shown) *shown = now.tv_sec;
  return now.tv_sec;
}
