/* What the summaries say now, for Prometheus. */
#include "common/record/openmetrics.h"
#include "tools/profres/export/format.h"

static void all(struct pfr_export *export, struct json_object *const *summaries, size_t count)
{
    pfr_openmetrics_write(export->out, summaries, count);
}

const struct pfr_format pfr_format_openmetrics = {
    .name = "openmetrics",
    .help = "the newest values, for a textfile collector of Prometheus",
    .summaries = true,
    .all = all,
};
