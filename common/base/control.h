/*
 * The lifeline between the one who starts tasks (profres run, the plugin) and
 * the sampler: a socket pair, one short text message at a time, never waited
 * for without a limit. Its closing is the end.
 *
 *   host to sampler   file NAME               with it a descriptor of a file of the
 *                                             step's cgroup; before start
 *                     start PID RANK [STAMP]  a task that has not run yet, and when
 *                                             the host saw it; one that has ended
 *                                             by the time of reading is noted
 *                     go                      they are about to: first sample
 *                     exit PID WAITSTATUS STARTED ENDED CPU_NS MAXRSS
 *                     totals PEAK KILLS CPU   what the host read itself at the end
 *                     command WORD            of the step's command line, one by one,
 *                                             before start: argv is for all to see
 *                     dir PATH, umask OCTAL   before go
 *                     presume PATH            a dir that may be named again
 *                     fact NAME=VALUE         one that was not known before
 *                     end                     finish now; so does closing
 *   sampler to host   ready | refuse TEXT     answer to go, to start
 *                     done PID                the readings at exit are taken
 *                     warn TEXT
 *                     more JSON, final JSON   the summary in parts (R73), or
 *                     say LINE                the summary for a person
 *                     bye                     that was all
 */
#ifndef PFR_BASE_CONTROL_H
#define PFR_BASE_CONTROL_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Both close-on-exec. 0 or -errno. The first is the host's: as root, it takes
 * the notices of thousands of tasks while the sampler is not there yet.
 */
int pfr_control_pair(int fds[2]);

/* Never blocks. 0 or -errno (-EAGAIN: the other side does not read). */
int pfr_control_send(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with a descriptor, which the other side gets a copy of. */
int pfr_control_send_fd(int fd, int passed, const char *text);

/*
 * A command line, NULL at its end, word by word. Of a very long one the last
 * word that is sent is "...".
 */
#define PFR_COMMAND_WORDS 250
#define PFR_COMMAND_SIZE 32768
void pfr_control_send_command(int fd, char *const *words);

/*
 * Text of any length: as many "more " messages as it takes and one that
 * begins with tag. Waits at most timeout_ms for the other side to read.
 */
int pfr_control_send_long(int fd, const char *tag, const char *text, int timeout_ms);

/*
 * > 0 the length of a message (NUL-terminated in text), 0 the other side has
 * closed, -ETIMEDOUT, -errno. timeout_ms < 0 does not wait at all.
 */
ssize_t pfr_control_receive(int fd, char *text, size_t size, int timeout_ms);

/* The same; *passed is the descriptor that came with it, close-on-exec, or -1. */
ssize_t pfr_control_receive_fd(int fd, char *text, size_t size, int timeout_ms, int *passed);

#endif
