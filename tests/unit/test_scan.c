/* The scanner over JSON in memory, and the lines of a file. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/parse.h"
#include "common/record/lines.h"
#include "common/record/reader.h"
#include "common/record/scan.h"

/* A copy that ends where the text ends, so that a byte read behind it is noticed. */
static char *exact(const char *text, size_t length)
{
    char *copy = malloc(length ? length : 1);

    assert_non_null(copy);
    memcpy(copy, text, length);
    return copy;
}

/* "a=1 b={c=2 ...}": all of it by pulling, with what is known as a number as number. */
static void walk(struct pfr_scan *scan, char *out, int depth)
{
    struct pfr_span key;
    char text[64];
    int64_t number;

    switch (depth < 20 ? pfr_scan_peek(scan) : 'n') {
    case '{':
        pfr_scan_enter(scan, '{');
        strcat(out, "{");
        while (pfr_scan_member(scan, &key)) {
            strncat(out, key.at, key.length);
            strcat(out, "=");
            walk(scan, out, depth + 1);
        }
        strcat(out, "}");
        break;
    case '[':
        pfr_scan_enter(scan, '[');
        strcat(out, "[");
        while (pfr_scan_element(scan))
            walk(scan, out, depth + 1);
        strcat(out, "]");
        break;
    case '"':
        if (pfr_scan_text(scan, text, sizeof(text)))
            sprintf(out + strlen(out), "'%s' ", text);
        break;
    case '0':
        if (pfr_scan_number(scan, 1000, &number))
            sprintf(out + strlen(out), "%lld ", (long long)number);
        break;
    default:
        if (pfr_scan_skip(scan))
            strcat(out, "? ");
    }
}

static const char sample[] =
    " { \"a\" : 1 , \"b\":[ 1, -2.5,\"x\\\"y\" , {}, [] ], \"c\":{\"d\":null,\"e\":true}, "
    "\"f\":\"\\u00e4\\ud83d\\ude00\\\\\"} \n";

static void pulls_all_there_is(void **state)
{
    struct pfr_scan scan;
    char out[512] = "";

    (void)state;
    pfr_scan_init(&scan, sample, strlen(sample));
    walk(&scan, out, 0);
    assert_string_equal(out, "{a=1000 b=[1000 -2500 'x\"y' {}[]]c={d=? e=? }"
                             "f='\xc3\xa4\xf0\x9f\x98\x80\\' }");
    assert_true(pfr_scan_done(&scan));
}

/* Cut at every byte: never whole, never read behind the end, always an end. */
static void a_cut_is_noticed_at_every_byte(void **state)
{
    size_t whole = strlen(sample) - 2; /* the last bracket */

    (void)state;
    for (size_t length = 0; length < whole; length++) {
        char *text = exact(sample, length), out[512] = "";
        struct pfr_scan scan;

        pfr_scan_init(&scan, text, length);
        walk(&scan, out, 0);
        assert_false(pfr_scan_done(&scan) && length > 1);
        pfr_scan_init(&scan, text, length);
        assert_false(pfr_scan_skip(&scan));
        assert_true(scan.bad);
        free(text);
    }
}

/* What is skipped ends where pulling it ends, wherever it stands among blocks of 64. */
static void skips_as_far_as_it_goes(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 130; shift++) {
        char text[1024];
        struct pfr_scan scan;

        memset(text, ' ', shift);
        snprintf(text + shift, sizeof(text) - shift,
                 "{\"k\":\"}]\\\\\\\"}\",\"n\":[[{\"\\\\\":\"{\"}]],\"s\":\"%*s\"},7 ", (int)shift,
                 "\\\"");
        pfr_scan_init(&scan, text, strlen(text));
        assert_true(pfr_scan_skip(&scan));
        assert_string_equal(scan.p, ",7 ");
    }
}

/* How long a value is, byte by byte; 0 when it does not end. */
static size_t length_of(const char *text, size_t length)
{
    bool inside = false, escaped = false;
    int depth = 0;

    for (size_t i = 0; i < length; i++) {
        if (escaped)
            escaped = false;
        else if (text[i] == '"')
            inside = !inside;
        else if (text[i] == '\\')
            escaped = inside;
        else if (!inside && strchr("{[", text[i]))
            depth++;
        else if (!inside && strchr("}]", text[i]) && --depth == 0)
            return i + 1;
        if (text[i] == '\\' && !inside)
            return 0; /* it has no place there */
    }
    return 0;
}

/* Any number of brackets and quotes, from the first one and from behind it. */
static void skips_what_looking_at_each_byte_does(void **state)
{
    static const char alphabet[] = "{}[]\"\"\"\\ab_,~^0000000000000000000000000000000000000000000";
    unsigned seed = 3;
    int ended = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t length = 1 + (size_t)(rand_r(&seed) % 250), expected;
        char bytes[256] = "{", *text;
        struct pfr_scan scan;

        for (size_t i = 1; i < length; i++)
            bytes[i] = alphabet[rand_r(&seed) % (int)(sizeof(alphabet) - 1)];
        text = exact(bytes, length);
        expected = length_of(text, length);
        ended += expected > 64;
        pfr_scan_init(&scan, text, length);
        assert_int_equal(pfr_scan_skip(&scan), expected > 0);
        assert_ptr_equal(scan.p, text + (expected ? expected : length));
        pfr_scan_init(&scan, text, length);
        assert_true(pfr_scan_enter(&scan, '{'));
        assert_int_equal(pfr_scan_leave(&scan), expected > 0);
        assert_ptr_equal(scan.p, text + (expected ? expected : length));
        free(text);
    }
    assert_true(ended > 500);
}

/* What follows is pulled as before. */
static void leaves_what_was_entered(void **state)
{
    static const char text[] =
        "{\"a\":{\"b\":1,\"c\":[{}],\"d\":\"}\"},\"e\":[1,[2]],\"f\":{},\"g\":7}";
    struct pfr_scan scan;
    struct pfr_span key;
    char out[64] = "";

    (void)state;
    pfr_scan_init(&scan, text, strlen(text));
    assert_true(pfr_scan_enter(&scan, '{') && pfr_scan_member(&scan, &key));
    assert_true(pfr_scan_enter(&scan, '{') && pfr_scan_member(&scan, &key));
    assert_true(pfr_scan_skip(&scan) && pfr_scan_leave(&scan));
    assert_true(pfr_scan_member(&scan, &key) && pfr_span_is(key, "e"));
    assert_true(pfr_scan_enter(&scan, '[') && pfr_scan_leave(&scan));
    assert_true(pfr_scan_member(&scan, &key) && pfr_span_is(key, "f"));
    assert_true(pfr_scan_enter(&scan, '{') && pfr_scan_leave(&scan));
    assert_true(pfr_scan_member(&scan, &key) && pfr_span_is(key, "g"));
    walk(&scan, out, 0);
    assert_string_equal(out, "7000 ");
    assert_false(pfr_scan_member(&scan, &key));
    assert_true(pfr_scan_done(&scan));
}

/* {"K":1,"b":{"c":-2.5,"K":"x"}} with other blanks; how long it is. */
static size_t lay_out(char *to, size_t size, const char *key, const char *line, const char *colon)
{
    return (size_t)snprintf(to, size, "{%s\"%s\"%s1,%s\"b\"%s{%s%s\"c\"%s-2.5,%s%s\"%s\"%s\"x\"%s},"
                            "%s\"d\"%s0%s}%64s", line, key, colon, line, colon, line, line, colon,
                            line, line, key, colon, line, line, colon, line, "");
}

/* Lines as they are written for people, keys of any length: the same as without any blanks. */
static void layouts_do_not_matter(void **state)
{
    static const char *const colons[] = { ": ", ":", " : ", ":\n ", ":\t" };
    static const char *const keys[] = { "", "k", "\\\"", "a\\\\", "a\\\": b", "max_at_seconds",
                                        "fifteen_letters", "sixteen_letters_",
                                        "a_key_of_thirty_one_letters_so_",
                                        "and_another_one_of_thirty_two_so",
                                        "a_key_that_is_longer_than_any_that_we_have_written" };
    char line[40] = "\n", text[1024], plain[512], out[512];

    (void)state;
    for (size_t i = 0; i < 36 * 5 * 11 * 2; i++) {
        const char *key = keys[i / 2 % 11], *colon = colons[i / 22 % 5];
        size_t depth = i / 110, length;
        struct pfr_scan scan;

        snprintf(line, sizeof(line), "%s%*s", i % 2 ? "\r\n" : "\n", (int)depth, "");
        plain[0] = out[0] = '\0';
        length = lay_out(text, sizeof(text), key, "", ":");
        pfr_scan_init(&scan, text, length);
        walk(&scan, plain, 0);
        assert_true(pfr_scan_done(&scan) && strstr(plain, "d=0 }"));
        length = lay_out(text, sizeof(text), key, line, colon);
        pfr_scan_init(&scan, text, length);
        walk(&scan, out, 0);
        assert_true(pfr_scan_done(&scan));
        assert_string_equal(out, plain);
    }
}

static void wrong_things_are_bad(void **state)
{
    static const char *const texts[] = {
        "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{,\"a\":1}", "{\"a\":}", "{a:1}", "[1 2]", "[1,]",
        "[1,,2]", "{\"a\":1]", "{\"a\":1,}", "[-]", "[1.]", "[1e]", "[1x]", "[.5]", "{\"a\":1",
        "[\"abc]", "", "{", "[",
        "{\n  \"a\": 1\n  \"b\": 2                                                           }",
        "{\n  ,\"a\": 1                                                                      }",
        "{,\n  \"a\": 1                                                                      }",
        "{\n  \"a\": \"x\";\n  \"b\": 2                                                       }",
        "{\n  \"a\"; 1                                                                       }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pfr_scan scan;
        char out[512] = "";

        pfr_scan_init(&scan, texts[i], strlen(texts[i]));
        walk(&scan, out, 0);
        if (pfr_scan_done(&scan) && texts[i][0])
            fail_msg("%s was taken", texts[i]);
    }
}

/* A number that goes to the end of the text may be half of one. */
static void a_number_at_the_end_is_not_taken(void **state)
{
    struct pfr_scan scan;
    int64_t value;

    (void)state;
    pfr_scan_init(&scan, "12,", 2);
    assert_false(pfr_scan_skip(&scan));
    pfr_scan_init(&scan, "12,", 2);
    assert_false(pfr_scan_number(&scan, 1, &value));
}

/* A NUL is a byte like others: in a string it is shown as '?', elsewhere it is wrong. */
static void nul_bytes_do_not_end_it(void **state)
{
    static const char inside[] = "{\"a\":\"x\0y\",\"b\":2}", between[] = "{\"a\":1,\0\"b\":2}";
    struct pfr_scan scan;
    char out[512] = "";

    (void)state;
    pfr_scan_init(&scan, inside, sizeof(inside) - 1);
    walk(&scan, out, 0);
    assert_string_equal(out, "{a='x?y' b=2000 }");
    assert_true(pfr_scan_done(&scan));
    out[0] = '\0';
    pfr_scan_init(&scan, between, sizeof(between) - 1);
    walk(&scan, out, 0);
    assert_false(pfr_scan_done(&scan));
}

static void check_text(const char *json, const char *expected)
{
    struct pfr_scan scan;
    char text[16];

    pfr_scan_init(&scan, json, strlen(json));
    assert_true(pfr_scan_text(&scan, text, sizeof(text)));
    assert_string_equal(text, expected);
}

static void text_is_fit_for_a_terminal(void **state)
{
    (void)state;
    check_text("\"\\u001b[31m\"", "?[31m");
    check_text("\"a\\nb\\tc\"", "a b c");
    check_text("\"\\u009b\\u0000\\u007f\"", "???");
    check_text("\"\xff\xc3(\xe2\x82\"", "?" "?(?" "?");     /* broken UTF-8, byte by byte */
    check_text("\"\xc0\xaf\"", "??");                        /* overlong */
    check_text("\"\xed\xa0\x80\"", "???");                   /* a surrogate */
    check_text("\"\\ud800x\\udc00\\u12\"", "?x??12");        /* halves of pairs, too few digits */
    check_text("\"0123456789abcde\"", "0123456789abcde");
    check_text("\"0123456789abcd\\u00e4\"", "0123456789abcd"); /* cut between characters */
    check_text("\"\\/\\\"\\q\"", "/\"?");
}

static void check_number(const char *json, int64_t quantum, int64_t expected)
{
    static const char *const behind[] = { ",", "\n", " }", ",                               " };

    for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
        char padded[96];
        struct pfr_scan scan;
        int64_t value = 42;

        snprintf(padded, sizeof(padded), "%s%s", json, behind[i]);
        pfr_scan_init(&scan, padded, strlen(padded));
        assert_true(pfr_scan_number(&scan, quantum, &value));
        assert_int_equal(value, expected);
        assert_string_equal(scan.p, behind[i]);
    }
}

static void numbers_are_exact(void **state)
{
    (void)state;
    check_number("0", 1, 0);
    check_number("-0", 1, 0);
    check_number("9007199254740993", 1, INT64_C(9007199254740993)); /* not a double */
    check_number("9223372036854775807", 1, INT64_MAX);
    check_number("123456789012345678", 1, INT64_C(123456789012345678));
    check_number("12345678901234567", 1000, INT64_MAX);
    check_number("9223372036", PFR_NS_PER_S, INT64_C(9223372036000000000));
    check_number("9223372037", PFR_NS_PER_S, INT64_MAX);
    check_number("007", 1, 7);
    check_number("99999999999999999999999", 1, INT64_MAX);
    check_number("-99999999999999999999999", 1, -INT64_MAX);
    check_number("2.393448", PFR_NS_PER_S, INT64_C(2393448000));
    check_number("-0.000162", PFR_NS_PER_S, -162000);
    check_number("107.085", 1000, 107085);
    check_number("0.0004", 1000, 0);
    check_number("0.0005", 1000, 1);
    check_number("2.150082", 1, 2);
    check_number("2.5", 1, 3);
    check_number("1e3", 1, 1000);
    check_number("1.5E-3", PFR_NS_PER_S, 1500000);
    check_number("1e999999999999", 1000, INT64_MAX);
    check_number("1e-999999999999", 1000, 0);
    check_number("0e99", 1000, 0);
    check_number("0.123456789123456789123456789", PFR_NS_PER_S, 123456789);
    check_number("1e30", PFR_NS_PER_S, INT64_MAX);
}

/* As wrong as it gets: any bytes, and the scanner comes to an end. */
static void any_bytes_come_to_an_end(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        static const char alphabet[] = "{}[]\",:\\ 01-e.tnu\n\0\xff";
        char bytes[192], *text, out[8192] = "";
        size_t length = (size_t)(rand_r(&seed) % (int)sizeof(bytes));
        struct pfr_scan scan;

        for (size_t i = 0; i < length; i++)
            bytes[i] = alphabet[rand_r(&seed) % (int)(sizeof(alphabet) - 1)];
        text = exact(bytes, length);
        pfr_scan_init(&scan, text, length);
        walk(&scan, out, 0);
        assert_true(scan.p <= scan.end);
        pfr_scan_init(&scan, text, length);
        pfr_scan_skip(&scan);
        assert_true(scan.p <= scan.end);
        free(text);
    }
}

/* ---- lines ------------------------------------------------------------------ */

static int file_of(const char *text, size_t length)
{
    char name[] = "/tmp/profres-lines.XXXXXX";
    int fd = mkostemp(name, O_CLOEXEC);

    assert_true(fd >= 0);
    unlink(name);
    assert_int_equal(write(fd, text, length), (ssize_t)length);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void lines_one_after_another(void **state)
{
    static const char text[] = "one\n\nth\0ree\nhalf";
    struct pfr_lines lines;
    const char *line;
    size_t length;

    (void)state;
    pfr_lines_init(&lines, file_of(text, sizeof(text) - 1));
    assert_int_equal(pfr_lines_next(&lines, &line, &length), 1);
    assert_int_equal(length, 3);
    assert_int_equal(pfr_lines_next(&lines, &line, &length), 1);
    assert_int_equal(length, 0);
    assert_int_equal(pfr_lines_next(&lines, &line, &length), 1);
    assert_int_equal(length, 6);
    assert_memory_equal(line, "th\0ree", 6);
    assert_int_equal(pfr_lines_next(&lines, &line, &length), 0);
    assert_true(lines.torn);
    assert_int_equal(lines.count, 3);
    pfr_lines_release(&lines);
}

/* Longer than the buffer: given out; longer than any line may be: passed over. */
static void long_lines(void **state)
{
    size_t length = PFR_LINE_MAX + (3u << 20), size;
    char *text = malloc(length + 600000 + 16);
    struct pfr_lines lines;
    const char *line;

    (void)state;
    memset(text, 'x', length + 600000 + 16);
    text[length] = '\n';
    text[length + 600001] = '\n';
    memcpy(text + length + 600002, "end\n", 4);
    pfr_lines_init(&lines, file_of(text, length + 600006));
    free(text);
    assert_int_equal(pfr_lines_next(&lines, &line, &size), 1);
    assert_int_equal(size, 600000);
    assert_int_equal(lines.too_long, 1);
    assert_int_equal(pfr_lines_next(&lines, &line, &size), 1);
    assert_int_equal(size, 3);
    assert_int_equal(pfr_lines_next(&lines, &line, &size), 0);
    assert_false(lines.torn);
    pfr_lines_release(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulls_all_there_is),
        cmocka_unit_test(a_cut_is_noticed_at_every_byte),
        cmocka_unit_test(skips_as_far_as_it_goes),
        cmocka_unit_test(skips_what_looking_at_each_byte_does),
        cmocka_unit_test(leaves_what_was_entered),
        cmocka_unit_test(layouts_do_not_matter),
        cmocka_unit_test(wrong_things_are_bad),
        cmocka_unit_test(a_number_at_the_end_is_not_taken),
        cmocka_unit_test(nul_bytes_do_not_end_it),
        cmocka_unit_test(text_is_fit_for_a_terminal),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(any_bytes_come_to_an_end),
        cmocka_unit_test(lines_one_after_another),
        cmocka_unit_test(long_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
