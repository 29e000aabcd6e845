/*
 * Takes the power from a mounted ext4: what was not flushed is lost, and every later call fails,
 * until it is unmounted and mounted again.
 *
 *   cut-power DIRECTORY
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)
/* Neither the data nor the journal that is in memory reaches the device. */
#define GOING_FLAGS_NOLOGFLUSH 2

int main(int count, char **words) {
  uint32_t flags = GOING_FLAGS_NOLOGFLUSH;
  int fd = count == 2 ? open(words[1], O_RDONLY) : -1;
  if (fd < 0 || ioctl(fd, EXT4_IOC_SHUTDOWN, &flags) != 0) {
    perror("cut-power");
    return 1;
  }
  return 0;
}
