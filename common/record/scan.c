#include "common/record/scan.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool fail(struct pfr_scan *scan)
{
    scan->bad = true;
    scan->p = scan->end;
    return false;
}

#ifdef __SSE2__
static inline uint64_t equal16(__m128i bytes, char c)
{
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

static inline __m128i load16(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Over the indentation of a file made for people, which is a good part of it. */
static inline const char *skip_indentation(const char *p, const char *end)
{
    while (end - p >= 16) {
        __m128i bytes = load16(p);
        uint64_t others = ~(equal16(bytes, ' ') | equal16(bytes, '\n')) & 0xffff;

        if (others)
            return p + __builtin_ctzll(others);
        p += 16;
    }
    return p;
}

/* The first quote, escaped or not. */
static inline const char *find_quote(const char *p, const char *end)
{
    while (end - p >= 16) {
        uint64_t quotes = equal16(load16(p), '"');

        if (quotes)
            return p + __builtin_ctzll(quotes);
        p += 16;
    }
    return memchr(p, '"', (size_t)(end - p));
}
#else
static inline const char *skip_indentation(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n'))
        p++;
    return p;
}

static inline const char *find_quote(const char *p, const char *end)
{
    return memchr(p, '"', (size_t)(end - p));
}
#endif

/* The next byte that is no blank, 0 at the end. */
static inline char next(struct pfr_scan *scan)
{
    const char *p = scan->p;

    if (p < scan->end && *p > ' ')
        return *p;
    p = skip_indentation(p, scan->end);
    while (p < scan->end && is_blank(*p))
        p++;
    scan->p = p;
    return p < scan->end ? *p : '\0';
}

/* The quote that ends the string whose contents begin at p; NULL when it is cut off. */
static inline const char *string_end(const char *p, const char *end)
{
    while (p < end) {
        const char *quote = find_quote(p, end);
        const char *back = quote;

        if (!quote)
            return NULL;
        while (back > p && back[-1] == '\\')
            back--;
        if ((quote - back) % 2 == 0)
            return quote;
        p = quote + 1;
    }
    return NULL;
}

char pfr_scan_peek(struct pfr_scan *scan)
{
    char c = next(scan);

    if (c == '-' || (c >= '0' && c <= '9'))
        return '0';
    return c && strchr("{[\"tfn", c) ? c : '\0';
}

bool pfr_scan_enter(struct pfr_scan *scan, char bracket)
{
    if (next(scan) != bracket)
        return false;
    scan->p++;
    scan->first = true;
    return true;
}

/* Over the comma before the next thing; false behind the closing bracket. */
static bool go_on(struct pfr_scan *scan, char closing)
{
    char c = next(scan);
    bool first = scan->first;

    scan->first = false;
    if (c == closing) {
        scan->p++;
        return false;
    }
    if (first)
        return c ? true : fail(scan);
    if (c != ',')
        return fail(scan);
    scan->p++;
    return next(scan) ? true : fail(scan);
}

bool pfr_scan_member(struct pfr_scan *scan, struct pfr_span *key)
{
    const char *end;

    if (!go_on(scan, '}'))
        return false;
    if (*scan->p != '"' || !(end = string_end(scan->p + 1, scan->end)))
        return fail(scan);
    *key = (struct pfr_span){ scan->p + 1, (size_t)(end - scan->p - 1) };
    scan->p = end + 1;
    if (next(scan) != ':')
        return fail(scan);
    scan->p++;
    return next(scan) ? true : fail(scan);
}

bool pfr_scan_element(struct pfr_scan *scan)
{
    return go_on(scan, ']');
}

/* Which of 64 bytes are what, a bit for each. */
struct block {
    uint64_t quotes, backslashes, opens, closes;
};

#ifdef __SSE2__
static inline struct block look(const char *p)
{
    struct block block = { 0 };

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m128i bytes = load16(p + i * 16);
        __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20)); /* [ to {, ] to } */

        block.quotes |= equal16(bytes, '"') << i * 16;
        block.backslashes |= equal16(bytes, '\\') << i * 16;
        block.opens |= equal16(folded, '{') << i * 16;
        block.closes |= equal16(folded, '}') << i * 16;
    }
    return block;
}
#else
static inline struct block look(const char *p)
{
    struct block block = { 0 };

    for (int i = 0; i < 64; i++) {
        block.quotes |= (uint64_t)(p[i] == '"') << i;
        block.backslashes |= (uint64_t)(p[i] == '\\') << i;
        block.opens |= (uint64_t)((p[i] | 0x20) == '{') << i;
        block.closes |= (uint64_t)((p[i] | 0x20) == '}') << i;
    }
    return block;
}
#endif

/* Quotes behind a backslash are no quotes; *carry: the next block begins behind one. */
static uint64_t unescaped(const struct block *block, bool *carry)
{
    uint64_t backslashes = block->backslashes, behind = *carry;

    if (*carry)
        backslashes &= ~UINT64_C(1);
    *carry = false;
    while (backslashes) {
        int i = __builtin_ctzll(backslashes);

        if (i == 63)
            *carry = true;
        else
            behind |= UINT64_C(2) << i;
        backslashes &= ~(UINT64_C(3) << i);
    }
    return block->quotes & ~behind;
}

/* Each bit the parity of those up to it: 1 from an opening quote to before the closing one. */
static inline uint64_t parity(uint64_t bits)
{
#pragma GCC unroll 6
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* Bits set; without the processor's own instruction, which not every build may use. */
static inline int64_t count(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int64_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

struct nesting {
    uint64_t inside; /* all bits set when the next block begins in a string */
    int64_t depth;
    bool carry;
};

/* Where in these 64 bytes the outermost bracket is closed; -1 when it is not. */
__attribute__((always_inline)) static inline int close_at(struct nesting *nesting, const char *p)
{
    struct block block = look(p);
    uint64_t strings = nesting->inside;
    uint64_t opens, closes;
    int64_t closed;

    if (block.quotes | block.backslashes | nesting->carry)
        strings ^= parity(unescaped(&block, &nesting->carry));
    nesting->inside = strings >> 63 ? UINT64_MAX : 0;
    opens = block.opens & ~strings;
    closes = block.closes & ~strings;
    if (!(opens | closes))
        return -1;
    closed = count(closes);
    if (closed < nesting->depth) {
        nesting->depth += count(opens) - closed;
        return -1;
    }
    for (uint64_t marks = opens | closes; marks; marks &= marks - 1) {
        nesting->depth += opens & marks & -marks ? 1 : -1;
        if (nesting->depth == 0)
            return __builtin_ctzll(marks);
    }
    return -1;
}

/* From an opening bracket to behind the one that closes it, 64 bytes at a time. */
static bool skip_nested(struct pfr_scan *scan)
{
    struct nesting nesting = { 0 };
    const char *p = scan->p;
    char rest[64] = { 0 };
    int at = -1;

    for (; at < 0 && scan->end - p >= 64; p += 64)
        at = close_at(&nesting, p);
    if (at >= 0) {
        scan->p = p - 64 + at + 1;
        return true;
    }
    memcpy(rest, p, (size_t)(scan->end - p));
    at = close_at(&nesting, rest);
    if (at < 0)
        return fail(scan);
    scan->p = p + at + 1;
    return true;
}

bool pfr_scan_skip(struct pfr_scan *scan)
{
    char c = next(scan);
    const char *p = scan->p;

    if (c == '{' || c == '[')
        return skip_nested(scan);
    if (c == '"') {
        p = string_end(p + 1, scan->end);
        scan->p = p ? p + 1 : scan->end;
        return p ? true : fail(scan);
    }
    if (!c || !strchr("-0123456789tfn", c))
        return fail(scan);
    while (p < scan->end && !is_blank(*p) && !strchr(",]}:\"[{", *p))
        p++;
    if (p == scan->end) /* a number that goes to the end may be cut off */
        return fail(scan);
    scan->p = p;
    return true;
}

bool pfr_scan_span(struct pfr_scan *scan, struct pfr_span *text)
{
    const char *begin;

    if (next(scan) != '"') {
        pfr_scan_skip(scan);
        return false;
    }
    begin = scan->p + 1;
    if (!pfr_scan_skip(scan))
        return false;
    *text = (struct pfr_span){ begin, (size_t)(scan->p - 1 - begin) };
    return true;
}

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
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) /* controls, also C1: ESC [ and CSI */
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

/* mantissa * 10^exponent * quantum, rounded half up, saturated */
static int64_t scaled(uint64_t mantissa, int exponent, int64_t quantum)
{
    static const int64_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
                                    1000000000 };
    const unsigned __int128 most = INT64_MAX;
    unsigned __int128 value;

    if (exponent < 0 && exponent >= -9 && quantum % tens[-exponent] == 0) {
        quantum /= tens[-exponent]; /* as we write them: no more places than the quantum has */
        exponent = 0;
    }
    value = (unsigned __int128)mantissa * (uint64_t)quantum;
    if (exponent < -40)
        return 0;
    for (; exponent > 0 && value && value <= most; exponent--)
        value *= 10;
    for (; exponent < -1; exponent++)
        value /= 10;
    if (exponent == -1)
        value = (value + 5) / 10;
    return value > most ? INT64_MAX : (int64_t)value;
}

/* Digits at p into the mantissa; those beyond 18 only count as places. */
static const char *digits(const char *p, const char *end, uint64_t *mantissa, int *dropped)
{
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (*mantissa < UINT64_C(100000000000000000))
            *mantissa = *mantissa * 10 + (uint64_t)(*p - '0');
        else
            ++*dropped;
    }
    return p;
}

bool pfr_scan_number(struct pfr_scan *scan, int64_t quantum, int64_t *value)
{
    const char *p, *begin, *end = scan->end;
    uint64_t mantissa = 0;
    int exponent = 0, dropped = 0;
    bool negative;
    char c = next(scan);

    if (c != '-' && (c < '0' || c > '9')) {
        pfr_scan_skip(scan);
        return false;
    }
    negative = c == '-';
    begin = scan->p + negative;
    p = digits(begin, end, &mantissa, &dropped);
    exponent = dropped;
    if (p == begin)
        return fail(scan);
    if (p < end && *p == '.') {
        const char *fraction = ++p;

        dropped = 0;
        p = digits(p, end, &mantissa, &dropped);
        if (p == fraction)
            return fail(scan);
        exponent -= (int)(p - fraction) - dropped;
    }
    if (p < end && (*p | 32) == 'e') {
        bool below = false;
        uint64_t power = 0;

        p++;
        if (p < end && (*p == '+' || *p == '-'))
            below = *p++ == '-';
        begin = p;
        p = digits(p, end, &power, &dropped);
        if (p == begin)
            return fail(scan);
        power = power > 1000 ? 1000 : power;
        exponent += below ? -(int)power : (int)power;
    }
    if (p == end || !(is_blank(*p) || *p == ',' || *p == '}' || *p == ']'))
        return fail(scan);
    scan->p = p;
    *value = scaled(mantissa, exponent, quantum);
    if (negative)
        *value = -*value;
    return true;
}

bool pfr_scan_done(struct pfr_scan *scan)
{
    return next(scan) == '\0' && scan->p == scan->end && !scan->bad;
}

bool pfr_scan_into(struct pfr_scan *scan, char bracket)
{
    if (pfr_scan_enter(scan, bracket))
        return true;
    pfr_scan_skip(scan);
    return false;
}
