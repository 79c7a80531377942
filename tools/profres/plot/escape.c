/* What others have written, inside a page: never as a part of it. */
#include "tools/profres/plot/render.h"

static bool is_plain(unsigned char c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t' || c == '\n';
}

void pfr_escape_xml(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            putc(is_plain((unsigned char)*text) ? *text : '?', out);
        }
    }
}

void pfr_escape_json(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&' ||
                 c == '\'')
            fprintf(out, "\\u%04x", c); /* so that no </script> and no <!-- can stand there */
        else
            putc(c, out);
    }
    putc('"', out);
}
