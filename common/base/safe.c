#include "common/base/safe.h"

#include <stdio.h>
#include <string.h>

#include "common/base/utf8.h"

bool pfr_safe_is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x061c ||
           code == 0x180e || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || code >= 0xe0000;
}

bool pfr_safe_is_plain(const char *text)
{
    uint32_t code;

    for (int n; *text; text += n) {
        n = pfr_utf8_decode(text, &code);
        if (n == 0 || pfr_safe_is_harmful(code))
            return false;
    }
    return true;
}

int pfr_safe_next(const char **text, const char *delimiter, char unit[static PFR_SAFE_UNIT])
{
    const char *p = *text;
    uint32_t code;
    int n = pfr_utf8_decode(p, &code);

    if (!*p)
        return 0;
    *text += n ? n : 1;
    if (strchr("\\\n\t\r", *p))
        return snprintf(unit, PFR_SAFE_UNIT, "\\%c",
                        *p == '\n' ? 'n' : *p == '\t' ? 't' : *p == '\r' ? 'r' : '\\');
    if (n == 0 || (delimiter && *delimiter && strncmp(p, delimiter, strlen(delimiter)) == 0)) {
        *text = p + 1;
        return snprintf(unit, PFR_SAFE_UNIT, "\\x%02x", (unsigned char)*p);
    }
    if (!pfr_safe_is_harmful(code)) {
        memcpy(unit, p, (size_t)n);
        unit[n] = '\0';
        return 1;
    }
    return snprintf(unit, PFR_SAFE_UNIT, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
}

static const char *make_safe(const char *text, char *to, size_t size, bool message)
{
    char unit[PFR_SAFE_UNIT];
    size_t used = 0;

    to[0] = '\0';
    while (pfr_safe_next(&text, NULL, unit)) {
        size_t length = message && text[-1] == '\\' ? 1 : strlen(unit);

        if (used + length >= size)
            break;
        memcpy(to + used, unit, length);
        used += length;
        to[used] = '\0';
    }
    return to;
}

const char *pfr_safe_text(const char *text, char *to, size_t size)
{
    return make_safe(text, to, size, false);
}

const char *pfr_safe_message(const char *text, char *to, size_t size)
{
    return make_safe(text, to, size, true);
}
