/* profres doctor: whether this host, and this Slurm, can profile steps; what to do if not. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/cleanup.h"
#include "common/base/log.h"
#include "common/record/json.h"
#include "tools/profres/doctor/doctor.h"
#include "tools/profres/profres.h"

static const char *const words[] = {
    [PFR_HEALTH_OK] = "ok",
    [PFR_HEALTH_WARN] = "warn",
    [PFR_HEALTH_FAIL] = "fail",
};

static void print_help(FILE *out)
{
    fputs("usage: profres doctor [--json] [--submit]\n\n"
          "Checks whether steps of Slurm can be profiled: on a host where jobs are submitted, on\n"
          "a node, or as a job (srun profres doctor). One line for each check, which begins with\n"
          "ok, warn or fail; below it what to do.\n\n"
          "  -j, --json       as JSON\n"
          "  -s, --submit     this host only submits jobs: it needs no sampler\n"
          "  -r, --root=DIR   look for /proc and /sys below DIR, for tests\n"
          "  -h, --help       this text\n\n"
          "Exit status: 0 nothing failed, 1 something failed, 2 called wrongly. See\n"
          "profres-doctor(1).\n",
          out);
}

void pfr_doctor_add(struct pfr_doctor *doctor, const char *name, enum pfr_health health,
                    const char *advice, const char *format, ...)
{
    struct pfr_check *check = &doctor->checks[doctor->count];
    va_list ap;

    if (doctor->count == PFR_CHECKS_MAX)
        return;
    doctor->count++;
    check->name = name;
    check->health = health;
    check->advice = advice;
    va_start(ap, format);
    vsnprintf(check->text, sizeof(check->text), format, ap);
    va_end(ap);
}

static void print_lines(const struct pfr_doctor *doctor)
{
    for (int i = 0; i < doctor->count; i++) {
        const struct pfr_check *check = &doctor->checks[i];

        printf("%-5s%-10s %s\n", words[check->health], check->name, check->text);
        if (check->advice)
            printf("%16s-> %s\n", "", check->advice);
    }
}

static void print_json(const struct pfr_doctor *doctor)
{
    PFR_AUTO_JSON *all = json_object_new_object();
    struct json_object *checks = json_object_new_array();

    pfr_json_add(all, "version", pfr_json_text(PACKAGE_VERSION));
    for (int i = 0; i < doctor->count; i++) {
        struct json_object *one = json_object_new_object();

        pfr_json_add(one, "name", pfr_json_text(doctor->checks[i].name));
        pfr_json_add(one, "status", pfr_json_text(words[doctor->checks[i].health]));
        pfr_json_add(one, "text", pfr_json_text(doctor->checks[i].text));
        if (doctor->checks[i].advice)
            pfr_json_add(one, "advice", pfr_json_text(doctor->checks[i].advice));
        json_object_array_add(checks, one);
    }
    pfr_json_add(all, "checks", checks);
    puts(pfr_json_line(all));
}

static int examine(struct pfr_doctor *doctor, bool json)
{
    int failed = 0;

    snprintf(doctor->sampler, sizeof(doctor->sampler), "%s/profres-sampler", PFR_LIBEXECDIR);
    pfr_doctor_slurm(doctor);
    pfr_doctor_host(doctor);
    free(doctor->config);
    if (json)
        print_json(doctor);
    else
        print_lines(doctor);
    for (int i = 0; i < doctor->count; i++)
        failed += doctor->checks[i].health == PFR_HEALTH_FAIL;
    return failed || fflush(stdout) != 0 ? PFR_EXIT_FAILURE : EXIT_SUCCESS;
}

int pfr_command_doctor(int argc, char **argv)
{
    static const struct option options[] = {
        { "json", no_argument, NULL, 'j' },         { "submit", no_argument, NULL, 's' },
        { "root", required_argument, NULL, 'r' },   { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    static struct pfr_doctor doctor;
    const char *root = "";
    bool json = false;
    int c;

    while ((c = getopt_long(argc, argv, "+jsr:h", options, NULL)) != -1) {
        if (c == 'h') {
            print_help(stdout);
            return EXIT_SUCCESS;
        }
        if (c == '?')
            return PFR_EXIT_USAGE;
        json |= c == 'j';
        doctor.submit |= c == 's';
        root = c == 'r' ? optarg : root;
    }
    if (optind < argc) {
        pfr_error("doctor takes no argument '%s'; see 'profres doctor --help'", argv[optind]);
        return PFR_EXIT_USAGE;
    }
    pfr_env_init(&doctor.env, root);
    return examine(&doctor, json);
}
