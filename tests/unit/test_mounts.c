/*
 * Where the hierarchies are mounted: what we read from mountinfo, against what
 * libcgroup says of the live host (R39, R41).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <libcgroup.h>

#include "common/collect/cgpath.h"

static void mounts_are_those_of_libcgroup(void **state)
{
    static struct pfr_cgtarget target;
    struct pfr_env env;
    int compared = 0;

    (void)state;
    pfr_env_init(&env, "");
    if (cgroup_init() != 0 ||
        pfr_cgtarget_resolve(&env, getpid(), getpid(), PFR_LEVEL_OWN, &target) < 0) {
        print_message("# skipped: no cgroups here\n");
        return;
    }
    for (int i = PFR_UNIFIED + 1; i < PFR_CONTROLLER_COUNT; i++) {
        const char *name = pfr_controller_name((enum pfr_controller)i);
        char *mount = NULL;

        if (!target.dirs[i].mount[0] || cgroup_get_subsys_mount_point(name, &mount) != 0)
            continue;
        assert_string_equal(target.dirs[i].mount, mount);
        free(mount);
        compared++;
    }
    print_message("# %d v1 hierarchies compared\n", compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mounts_are_those_of_libcgroup),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
