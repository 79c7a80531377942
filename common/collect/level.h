/*
 * The levels of a Slurm step in a cgroup path, recognised in this one place
 * and nowhere else. Job directories have many names (job_5, a SLUID), so only
 * what Slurm has never renamed is looked for: "step_" and, on v1, "uid_".
 */
#ifndef PFR_COLLECT_LEVEL_H
#define PFR_COLLECT_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The step's own level above a task's path:
 *   v1  /slurm_n1/uid_7/job_5/step_0/task_3           -> .../step_0
 *   v2  /slurmstepd.scope/job_5/step_0/user/task_3    -> .../step_0/user
 * On v2 step_0 itself also holds slurmstepd; on v1 slurmstepd is in step_0, and
 * nothing can be done about that. False when the path has no step.
 */
bool pfr_level_step(const char *path, bool v2, char *step, size_t size);

/*
 * A place that outlives the step and is not counted as of it:
 *   v1  /slurm_n1/uid_7/job_5[/step_0]                -> /slurm_n1
 *   v2  /slurmstepd.scope/job_5/step_0/slurm          -> /slurmstepd.scope/system
 * False when the path is not inside a job: there is nothing to leave.
 */
bool pfr_level_outside(const char *path, bool v2, char *outside, size_t size);

#endif
