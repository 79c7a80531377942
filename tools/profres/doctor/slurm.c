#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "tools/profres/ask.h"
#include "tools/profres/doctor/doctor.h"

#define PLUGIN "profile_res.so"
#define BLANKS " \t\n"
#define DEPTH 8 /* of files that include others */

bool pfr_doctor_config(const struct pfr_doctor *doctor, const char *key, char *text, size_t size)
{
    size_t length = strlen(key);

    for (const char *line = doctor->config; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && strchr(" =", line[length])) {
            line += length + strspn(line + length, " =");
            snprintf(text, size, "%.*s", (int)strcspn(line, "\n"), line);
            return true;
        }
    }
    return false;
}

/* ---- plugstack.conf ---- */

static void take_words(struct pfr_doctor *doctor, char **rest)
{
    for (char *word = strtok_r(NULL, BLANKS, rest); word; word = strtok_r(NULL, BLANKS, rest)) {
        if (strncmp(word, "sampler=", 8) == 0)
            snprintf(doctor->sampler, sizeof(doctor->sampler), "%s", word + 8);
        else if (strncmp(word, "dir=", 4) == 0)
            snprintf(doctor->dir, sizeof(doctor->dir), "%s", word + 4);
    }
}

static bool is_plugin(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strcmp(slash ? slash + 1 : path, PLUGIN) == 0;
}

static bool read_plugstack(struct pfr_doctor *doctor, const char *path, int depth);

/* A pattern; without a slash at its start it is beside the file that includes it. */
static void include(struct pfr_doctor *doctor, const char *from, const char *pattern, int depth)
{
    char full[2 * PATH_MAX];
    const char *slash = strrchr(from, '/');
    glob_t found;

    if (pattern[0] == '/' || !slash)
        snprintf(full, sizeof(full), "%s", pattern);
    else
        snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - from), from, pattern);
    if (glob(full, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_plugstack(doctor, found.gl_pathv[i], depth + 1);
    globfree(&found);
}

static void take_line(struct pfr_doctor *doctor, const char *from, char *line, int depth)
{
    char *rest, *kind, *path;

    line[strcspn(line, "#")] = '\0';
    kind = strtok_r(line, BLANKS, &rest);
    path = kind ? strtok_r(NULL, BLANKS, &rest) : NULL;
    if (!path)
        return;
    if (strcmp(kind, "include") == 0) {
        include(doctor, from, path, depth);
    } else if (is_plugin(path)) {
        if (doctor->listed++ == 0) {
            snprintf(doctor->plugin, sizeof(doctor->plugin), "%s", path);
            take_words(doctor, &rest);
        }
    }
}

static bool read_plugstack(struct pfr_doctor *doctor, const char *path, int depth)
{
    PFR_AUTO_FILE *file = depth < DEPTH ? fopen(path, "re") : NULL;
    char line[4096];

    while (file && fgets(line, sizeof(line), file))
        take_line(doctor, path, line, depth);
    return file != NULL;
}

static void check_plugstack(struct pfr_doctor *doctor)
{
    char path[PATH_MAX] = "/etc/slurm/plugstack.conf";

    pfr_doctor_config(doctor, "PlugStackConfig", path, sizeof(path));
    if (!read_plugstack(doctor, path, 0))
        pfr_doctor_add(doctor, "plugstack", PFR_HEALTH_FAIL,
                       "write 'optional " PLUGIN "' into this file", "cannot read %s", path);
    else if (doctor->listed == 0)
        pfr_doctor_add(doctor, "plugstack", PFR_HEALTH_FAIL,
                       "add the line 'optional " PLUGIN "'", "%s does not list " PLUGIN, path);
    else if (doctor->listed > 1)
        pfr_doctor_add(doctor, "plugstack", PFR_HEALTH_WARN, "remove all lines but one",
                       "%s and what it includes list " PLUGIN " %d times", path, doctor->listed);
    else
        pfr_doctor_add(doctor, "plugstack", PFR_HEALTH_OK, NULL, "%s lists " PLUGIN, path);
}

/* ---- the plugin ---- */

/* A name without a slash is looked for in each directory of PluginDir. */
static bool find_plugin(const struct pfr_doctor *doctor, char *path, size_t size)
{
    char list[PATH_MAX] = "", *rest = NULL;

    if (doctor->plugin[0] == '/') {
        snprintf(path, size, "%s", doctor->plugin);
        return access(path, R_OK) == 0;
    }
    pfr_doctor_config(doctor, "PluginDir", list, sizeof(list));
    for (char *dir = strtok_r(list, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
        snprintf(path, size, "%s/%s", dir, doctor->plugin);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* srun reads plugstack.conf and loads what is there, of its own version only. */
static bool is_loaded(void)
{
    static const char *const argv[] = { "srun", "--help", NULL };
    char *help = pfr_ask(argv, PFR_ASK_MS);
    bool loaded = help && strstr(help, "--profile-res");

    free(help);
    return loaded;
}

static void check_plugin(struct pfr_doctor *doctor)
{
    char path[2 * PATH_MAX] = "", version[128] = "";

    if (doctor->listed == 0)
        return;
    pfr_doctor_config(doctor, "SLURM_VERSION", version, sizeof(version));
    if (!find_plugin(doctor, path, sizeof(path)))
        pfr_doctor_add(doctor, "plugin", PFR_HEALTH_FAIL,
                       "install it there, or name it with its full path in plugstack.conf",
                       "%s is not in the PluginDir of Slurm, or cannot be read", doctor->plugin);
    else if (!is_loaded())
        pfr_doctor_add(doctor, "plugin", PFR_HEALTH_FAIL,
                       "build it for this release series of Slurm; 'srun --help' says why not",
                       "srun (Slurm %s) does not load %s", version, path);
    else
        pfr_doctor_add(doctor, "plugin", PFR_HEALTH_OK, NULL,
                       "Slurm %s loads %s: srun knows --profile-res", version, path);
}

/* ---- what a step has to be measured by ---- */

static void check_memory(struct pfr_doctor *doctor)
{
    char ram[64] = "", gather[64] = "";

    pfr_doctor_config(doctor, "ConstrainRAMSpace", ram, sizeof(ram));
    pfr_doctor_config(doctor, "JobAcctGatherType", gather, sizeof(gather));
    if (strncasecmp(ram, "yes", 3) == 0)
        pfr_doctor_add(doctor, "memory", PFR_HEALTH_OK, NULL,
                       "ConstrainRAMSpace=yes: each step has a memory cgroup and a limit");
    else
        pfr_doctor_add(doctor, "memory", PFR_HEALTH_WARN,
                       "set ConstrainRAMSpace=yes in cgroup.conf",
                       "ConstrainRAMSpace is not yes: memory is not limited%s",
                       strstr(gather, "cgroup") ? "" : ", and on cgroup v1 only sampled");
    if (strstr(gather, "cgroup"))
        pfr_doctor_add(doctor, "gather", PFR_HEALTH_OK, NULL, "JobAcctGatherType=%s", gather);
    else
        pfr_doctor_add(doctor, "gather", PFR_HEALTH_WARN,
                       "set JobAcctGatherType=jobacct_gather/cgroup in slurm.conf",
                       "JobAcctGatherType=%s: on cgroup v1 a step has no CPU cgroup of its own",
                       gather[0] ? gather : "none");
}

static void check_tmp(struct pfr_doctor *doctor)
{
    char type[64] = "";

    pfr_doctor_config(doctor, "JobContainerType", type, sizeof(type));
    if (strstr(type, "tmpfs"))
        pfr_doctor_add(doctor, "tmp", PFR_HEALTH_WARN,
                       "have jobs submitted elsewhere, or set dir= to a shared directory",
                       "%s: each job has its own /tmp, and profiles in there are lost", type);
    else
        pfr_doctor_add(doctor, "tmp", PFR_HEALTH_OK, NULL, "jobs have no private /tmp");
}

void pfr_doctor_slurm(struct pfr_doctor *doctor)
{
    static const char *const argv[] = { "scontrol", "show", "config", NULL };
    char version[128] = "";

    doctor->config = pfr_ask(argv, PFR_ASK_MS);
    if (!pfr_doctor_config(doctor, "SLURM_VERSION", version, sizeof(version))) {
        pfr_doctor_add(doctor, "slurm", PFR_HEALTH_FAIL,
                       "start slurmctld or set SLURM_CONF; without Slurm use 'profres run'",
                       "'scontrol show config' does not answer");
        return;
    }
    pfr_doctor_add(doctor, "slurm", PFR_HEALTH_OK, NULL, "Slurm %s answers", version);
    check_plugstack(doctor);
    check_plugin(doctor);
    check_memory(doctor);
    check_tmp(doctor);
}
