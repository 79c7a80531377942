#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/collect/cgpath.h"
#include "tools/profres/ask.h"
#include "tools/profres/doctor/doctor.h"

/* ---- the sampler ---- */

/* slurmstepd starts it as root, and only if nobody else could have changed it. */
static bool is_of_root(const char *path)
{
    char dir[PATH_MAX];
    struct stat file, place;

    snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(path, '/') - path + 1), path);
    return stat(path, &file) == 0 && stat(dir, &place) == 0 && file.st_uid == 0 &&
           place.st_uid == 0 && !((file.st_mode | place.st_mode) & (S_IWGRP | S_IWOTH));
}

static bool is_of_our_version(const char *path)
{
    const char *const argv[] = { path, "--version", NULL };
    char *text = pfr_ask(argv, PFR_ASK_MS);
    bool same = text && strstr(text, " " PACKAGE_VERSION "\n");

    free(text);
    return same;
}

static void check_sampler(struct pfr_doctor *doctor)
{
    const char *path = doctor->sampler;

    if (doctor->submit)
        return;
    if (path[0] != '/' || access(path, X_OK) < 0)
        pfr_doctor_add(doctor, "sampler", PFR_HEALTH_FAIL,
                       "install profres on this node, or correct sampler= in plugstack.conf",
                       "cannot run %s: %s", path, strerror(errno));
    else if (!is_of_root(path))
        pfr_doctor_add(doctor, "sampler", PFR_HEALTH_FAIL,
                       "make the file and its directory root's, with mode 0755",
                       "%s or its directory is not root's, or others may write to it", path);
    else if (!is_of_our_version(path))
        pfr_doctor_add(doctor, "sampler", PFR_HEALTH_FAIL, "install both from the same version",
                       "%s is not of version %s, as this command is", path, PACKAGE_VERSION);
    else
        pfr_doctor_add(doctor, "sampler", PFR_HEALTH_OK, NULL, "%s is root's, version %s", path,
                       PACKAGE_VERSION);
}

/* ---- the kernel ---- */

/* The controllers of cgroup v2, where it is mounted; "" elsewhere. */
static void read_v2(const struct pfr_cgtarget *own, char *text, size_t size)
{
    char path[PFR_CGPATH_SIZE + 32];

    text[0] = '\0';
    snprintf(path, sizeof(path), "%s/cgroup.controllers", own->dirs[PFR_UNIFIED].mount);
    if (own->dirs[PFR_UNIFIED].mount[0])
        pfr_file_read_text(AT_FDCWD, path, text, size);
    text[strcspn(text, "\n")] = '\0';
}

static void read_v1(const struct pfr_cgtarget *own, char *text, size_t size)
{
    static const enum pfr_controller wanted[] = { PFR_MEMORY, PFR_CPUACCT, PFR_PIDS, PFR_BLKIO };

    text[0] = '\0';
    for (size_t i = 0; i < PFR_COUNT(wanted); i++)
        if (own->dirs[wanted[i]].mount[0])
            snprintf(text + strlen(text), size - strlen(text), "%s%s", text[0] ? " " : "",
                     pfr_controller_name(wanted[i]));
}

static void check_cgroups(struct pfr_doctor *doctor)
{
    static struct pfr_cgtarget own;
    char v1[128], v2[256];

    pfr_cgtarget_resolve(&doctor->env, getpid(), getpid(), PFR_LEVEL_OWN, &own);
    read_v1(&own, v1, sizeof(v1));
    read_v2(&own, v2, sizeof(v2));
    if (strstr(v2, "memory") && strstr(v2, "cpu"))
        pfr_doctor_add(doctor, "cgroup", PFR_HEALTH_OK, NULL, "cgroup v2 with %s", v2);
    else if (strstr(v1, "memory cpuacct"))
        pfr_doctor_add(doctor, "cgroup", PFR_HEALTH_OK, NULL, "cgroup v1 with %s", v1);
    else
        pfr_doctor_add(doctor, "cgroup", PFR_HEALTH_FAIL,
                       "mount cgroup v2, or v1 with memory and cpuacct; see cgroups(7)",
                       "no memory and CPU controllers in cgroup v1 (%s) or v2 (%s)",
                       v1[0] ? v1 : "none", v2[0] ? v2 : "none");
}

static void check_file(struct pfr_doctor *doctor, const char *name, const char *path,
                       const char *there, const char *not_there, const char *advice)
{
    if (access(path, R_OK) == 0)
        pfr_doctor_add(doctor, name, PFR_HEALTH_OK, NULL, "%s", there);
    else
        pfr_doctor_add(doctor, name, PFR_HEALTH_WARN, advice, "%s", not_there);
}

static void check_kernel(struct pfr_doctor *doctor)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof(path), "%s/pressure/memory", doctor->env.proc);
    check_file(doctor, "psi", path, "the kernel has pressure stall information",
               "the kernel has no pressure stall information: waiting is not measured",
               "boot with psi=1, on a kernel with CONFIG_PSI");
    /* lint: roots: below the root */
    snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", doctor->env.root);
    check_file(doctor, "btf", path, "the kernel describes its types (BTF)",
               "the kernel does not describe its types (BTF): no programs of ours can run in it",
               "use a kernel with CONFIG_DEBUG_INFO_BTF; nothing needs it yet");
}

/* Times of nodes and of the file server are compared: in 'top', and over nodes. */
static void check_clock(struct pfr_doctor *doctor)
{
    struct timex clock = { .modes = 0 };

    if (adjtimex(&clock) == TIME_ERROR || (clock.status & STA_UNSYNC))
        pfr_doctor_add(doctor, "clock", PFR_HEALTH_WARN, "run chronyd or another NTP client",
                       "the clock is not synchronized, as far as the kernel knows");
    else
        pfr_doctor_add(doctor, "clock", PFR_HEALTH_OK, NULL, "the clock is synchronized");
}

/* ---- the place of the files ---- */

/* Of a pattern, the part before the first '%'; of a path, the part that exists. */
static void existing_part(const char *pattern, char *path, size_t size)
{
    char *slash;

    snprintf(path, size, "%s", pattern[0] == '/' ? pattern : ".");
    if (strchr(path, '%')) {
        *strchr(path, '%') = '\0';
        path[strrchr(path, '/') - path + 1] = '\0';
    }
    while (access(path, F_OK) < 0 && (slash = strrchr(path, '/')) && slash > path)
        *slash = '\0';
}

static void check_dir(struct pfr_doctor *doctor)
{
    char path[PATH_MAX];

    existing_part(doctor->dir, path, sizeof(path));
    if (access(path, W_OK | X_OK) == 0)
        pfr_doctor_add(doctor, "dir", PFR_HEALTH_OK, NULL, "%s%s can be written",
                       doctor->dir[0] ? "dir=" : "profiles go beside the job's output; ",
                       doctor->dir[0] ? doctor->dir : "this directory");
    else
        pfr_doctor_add(doctor, "dir", doctor->dir[0] ? PFR_HEALTH_FAIL : PFR_HEALTH_WARN,
                       doctor->dir[0] ? "let users write there, or change dir= in plugstack.conf"
                                      : "submit from a directory that you may write",
                       "%s cannot be written: %s", path, strerror(errno));
}

void pfr_doctor_host(struct pfr_doctor *doctor)
{
    check_sampler(doctor);
    check_cgroups(doctor);
    check_kernel(doctor);
    check_dir(doctor);
    check_clock(doctor);
}
