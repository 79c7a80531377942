/* What users and sites write: SPEC, lists of measurements, times, texts to be shown. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/base/safe.h"
#include "common/metric/select.h"
#include "plugin/spec.h"

void pfr_fuzz_words(const char *text, size_t length)
{
    char error[128], safe[256], again[256];
    struct pfr_selection selection;
    struct pfr_spec spec;
    int64_t value = 1;

    (void)length;
    pfr_spec_default(&spec);
    if (pfr_spec_parse(&spec, text, error, sizeof(error)) >= 0)
        pfr_spec_metrics(&spec, safe, sizeof(safe));
    pfr_selection_parse(&selection, text, error, sizeof(error));
    if ((pfr_parse_duration(text, &value) && value <= 0) ||
        (pfr_parse_int(text, &value) && value < 0))
        abort();
    pfr_clock_parse(text, &value);
    if (!pfr_safe_is_plain(pfr_safe_text(text, safe, sizeof(safe))))
        abort();
    pfr_safe_message(text, safe, sizeof(safe));
    if (!pfr_safe_is_plain(safe) ||
        strcmp(pfr_safe_message(safe, again, sizeof(again)), safe) != 0)
        abort();
}
