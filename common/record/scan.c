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

#ifdef __SSE2__
/*
 * A member as we write it for people, in one go: comma, line's end, indentation,
 * key, colon, blank. Most lines are as deep as the one before: where that is so,
 * the processor goes on from there without waiting for what it has read. False,
 * and nothing moved, when it looks otherwise or is near the end of the text.
 */
static inline bool take_line(struct pfr_scan *scan, struct pfr_span *key)
{
    const char *p = scan->p;
    uint64_t others, quotes;

    if (scan->end - p < 64 || (!scan->first && *p++ != ',') || *p++ != '\n')
        return false;
    others = equal16(load16(p), ' ') ^ 0xffff;
    if (others << scan->beside != UINT64_C(1) << 63) {
        if (!others)
            return false;
        scan->beside = 63 - (unsigned)__builtin_ctzll(others);
    }
    p += 63 - scan->beside;
    quotes = equal16(load16(p + 1), '"') | equal16(load16(p + 17), '"') << 16;
    if (*p++ != '"' || !quotes)
        return false;
    *key = (struct pfr_span){ p, (size_t)__builtin_ctzll(quotes) };
    p += key->length;
    if (p[-1] == '\\' || p[1] != ':' || p[2] != ' ' || p[3] <= ' ')
        return false;
    scan->p = p + 3;
    scan->first = false;
    return true;
}
#else
static inline bool take_line(struct pfr_scan *scan, struct pfr_span *key)
{
    (void)scan, (void)key;
    return false;
}
#endif

bool pfr_scan_member(struct pfr_scan *scan, struct pfr_span *key)
{
    const char *end;

    if (take_line(scan, key))
        return true;
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
    uint64_t quotes;
    uint64_t marks; /* brackets of either kind, backslashes and | */
};

/* With this bit, [ \ ] become { | }, which stand in a row. */
#define FOLD 0x20

#ifdef __SSE2__
static inline struct block look(const char *p)
{
    struct block block = { 0 };

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        __m128i bytes = load16(p + i * 16), folded = _mm_or_si128(bytes, _mm_set1_epi8(FOLD));
        __m128i marks = _mm_and_si128(_mm_cmpgt_epi8(folded, _mm_set1_epi8('{' - 1)),
                                      _mm_cmplt_epi8(folded, _mm_set1_epi8('}' + 1)));

        block.quotes |= equal16(bytes, '"') << i * 16;
        block.marks |= (uint64_t)(uint32_t)_mm_movemask_epi8(marks) << i * 16;
    }
    return block;
}
#else
static inline struct block look(const char *p)
{
    struct block block = { 0 };

    for (int i = 0; i < 64; i++) {
        block.quotes |= (uint64_t)(p[i] == '"') << i;
        block.marks |= (uint64_t)((p[i] | FOLD) >= '{' && (p[i] | FOLD) <= '}') << i;
    }
    return block;
}
#endif

/* Each bit the parity of those up to it: 1 from an opening quote to before the closing one. */
static inline uint64_t parity(uint64_t bits)
{
#pragma GCC unroll 6
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

struct nesting {
    uint64_t inside; /* all bits set when the next block begins in a string */
    int64_t depth;
    bool escaped; /* it begins behind a backslash */
};

/* True when the outermost bracket is closed by this byte, which is in no string. */
static inline bool closes(struct nesting *nesting, char c)
{
    switch (c | FOLD) {
    case '{':
        nesting->depth++;
        return false;
    case '}':
        return --nesting->depth == 0;
    case '|': /* neither it nor a backslash has a place here: no end is found then */
        nesting->depth = INT64_MAX / 2;
    }
    return false;
}

/* Byte by byte, for where strings have such things in them. */
static int close_slowly(struct nesting *nesting, const char *p)
{
    for (int i = 0; i < 64; i++) {
        if (nesting->escaped)
            nesting->escaped = false;
        else if (p[i] == '"')
            nesting->inside = ~nesting->inside;
        else if (nesting->inside)
            nesting->escaped = p[i] == '\\';
        else if (closes(nesting, p[i]))
            return i;
    }
    return -1;
}

/* Where in these 64 bytes the outermost bracket is closed; -1 when it is not. */
__attribute__((always_inline)) static inline int close_at(struct nesting *nesting, const char *p)
{
    struct block block = look(p);
    uint64_t strings = nesting->inside ^ parity(block.quotes);

    /* the first backslash is seen here, as no quote before it was behind one */
    if (nesting->escaped || (block.marks & strings))
        return close_slowly(nesting, p);
    nesting->inside = strings >> 63 ? UINT64_MAX : 0;
    for (uint64_t marks = block.marks; marks; marks &= marks - 1)
        if (closes(nesting, p[__builtin_ctzll(marks)]))
            return __builtin_ctzll(marks);
    return -1;
}

/* To behind the bracket that closes the outermost of so many, 64 bytes at a time. */
static bool skip_nested(struct pfr_scan *scan, int64_t depth)
{
    struct nesting nesting = { .depth = depth };
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
        return skip_nested(scan, 0);
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

bool pfr_scan_leave(struct pfr_scan *scan)
{
    scan->first = false;
    return skip_nested(scan, 1);
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

/* Digits at p into the mantissa; those that do not fit, from the 20th, only count as places. */
static const char *digits(const char *p, const char *end, uint64_t *mantissa, int *dropped)
{
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        if (*mantissa < UINT64_MAX / 10)
            *mantissa = *mantissa * 10 + (uint64_t)(*p - '0');
        else
            ++*dropped;
    }
    return p;
}

/* A whole number, as most are; false, and nothing moved, when it is not so simple. */
static inline bool take_whole(struct pfr_scan *scan, int64_t quantum, int64_t *value)
{
    const char *p = scan->p;
    uint64_t number = 0;
    unsigned digit;

    if (scan->end - p < 20)
        return false;
    for (; p < scan->p + 18 && (digit = (unsigned)*p - '0') <= 9; p++)
        number = number * 10 + digit;
    if (p == scan->p || (*p != ',' && *p != '\n') ||
        __builtin_mul_overflow(number, quantum, value))
        return false;
    scan->p = p;
    return true;
}

bool pfr_scan_number(struct pfr_scan *scan, int64_t quantum, int64_t *value)
{
    const char *p, *begin, *end = scan->end;
    uint64_t mantissa = 0;
    int exponent = 0, dropped = 0;
    bool negative;
    char c;

    if (take_whole(scan, quantum, value))
        return true;
    c = next(scan);
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
