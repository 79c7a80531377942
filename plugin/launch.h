/* Starting the sampler from a process with many threads, and letting it go. */
#ifndef PFR_PLUGIN_LAUNCH_H
#define PFR_PLUGIN_LAUNCH_H

#include <sys/types.h>

/*
 * Executes path with argv as a grandchild: in a session of its own, without
 * our descriptors (but control, as its descriptor 3), signal mask, directory
 * or environment. Its pid, or -errno; that it could not be executed is seen by
 * the closing of the other end of control. The pid is nobody else's as long as
 * that has not closed.
 */
pid_t pfr_launch(const char *path, char *const argv[], int control);

#define PFR_LAUNCH_CONTROL "3"

#endif
