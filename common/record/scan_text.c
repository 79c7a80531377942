/* Strings of JSON, decoded so that they can be shown. */
#include "common/base/safe.h"
#include "common/record/scan.h"

static bool hex4(const char *p, const char *end, uint32_t *code)
{
    *code = 0;
    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9' ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

/* The character that an escape stands for, behind the backslash; '?' when it is none. */
static uint32_t escaped(const char **p, const char *end)
{
    uint32_t code, low;

    switch (*(*p)++) {
    case 'u':
        if (!hex4(*p, end, &code))
            return '?';
        *p += 4;
        if (code < 0xd800 || code > 0xdfff)
            return code;
        if (code > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u' ||
            !hex4(*p + 2, end, &low) || low < 0xdc00 || low > 0xdfff)
            return '?';
        *p += 6;
        return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    case 'n': case 't': case 'r': case 'b': case 'f':
        return ' '; /* a line of a table is one line */
    case '"':
        return '"';
    case '\\':
        return '\\';
    case '/':
        return '/';
    }
    return '?';
}

/* The next character of well-formed UTF-8; '?' for a byte that begins none. */
static uint32_t plain(const char **p, const char *end)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *u = (const unsigned char *)*p;
    int n = *u < 0x80 ? 1 : *u >> 5 == 6 ? 2 : *u >> 4 == 14 ? 3 : *u >> 3 == 30 ? 4 : 0;
    uint32_t code = n == 1 ? *u : *u & (0xffu >> (n + 1));

    (*p)++;
    if (n == 0 || end - (const char *)u < n)
        return '?';
    for (int i = 1; i < n; i++) {
        if (u[i] >> 6 != 2)
            return '?';
        code = code << 6 | (u[i] & 0x3f);
    }
    if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return '?';
    *p += n - 1;
    return code;
}

/* Bytes of one character in UTF-8. */
static size_t encode(uint32_t code, char out[4])
{
    if (pfr_safe_is_harmful(code))
        code = '?';
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

bool pfr_scan_text(struct pfr_scan *scan, char *text, size_t size)
{
    struct pfr_span span;
    const char *p, *end;
    size_t used = 0;

    if (!pfr_scan_span(scan, &span))
        return false;
    p = span.at;
    end = span.at + span.length;
    while (p < end) {
        uint32_t code = '?';
        char bytes[4];
        size_t n;

        if (*p >= ' ' && *p < 0x7f && *p != '\\' && used + 1 < size) { /* most are */
            text[used++] = *p++;
            continue;
        }
        if (*p == '\\') {
            p++;
            if (p < end)
                code = escaped(&p, end);
        } else {
            code = plain(&p, end);
        }
        n = encode(code, bytes);
        if (used + n >= size)
            break;
        memcpy(text + used, bytes, n);
        used += n;
    }
    text[used] = '\0';
    return true;
}
