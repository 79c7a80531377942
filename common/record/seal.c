#include "common/record/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"

/* ---- SipHash-2-4: cannot be forged without the key ---- */

static uint64_t rotate(uint64_t x, int bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

static uint64_t sip_hash(const uint64_t key[2], const char *text, size_t length)
{
    uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                      key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
    uint64_t last = (uint64_t)length << 56, word;

    for (; length >= 8; length -= 8, text += 8) {
        memcpy(&word, text, 8);
        sip_word(v, word);
    }
    for (size_t i = 0; i < length; i++)
        last |= (uint64_t)(unsigned char)text[i] << 8 * i;
    sip_word(v, last);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- the seal ---- */

int pfr_seal_begin(struct pfr_seal *seal, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    memset(seal, 0, sizeof(*seal));
    seal->base = seal->bytes = st.st_size;
    if (getrandom(seal->key, sizeof(seal->key), GRND_NONBLOCK) != sizeof(seal->key))
        seal->key[0] = (uint64_t)pfr_clock_ns(CLOCK_MONOTONIC); /* of an early boot */
    return 0;
}

/* Lines are chained: the hash of each is a key of the next. */
static uint64_t chain(const struct pfr_seal *seal, uint64_t tag, const char *line, size_t length)
{
    const uint64_t key[2] = { seal->key[0] ^ tag, seal->key[1] };

    return sip_hash(key, line, length);
}

void pfr_seal_add(struct pfr_seal *seal, const char *line, size_t length)
{
    seal->tag = chain(seal, seal->tag, line, length);
    seal->bytes += (int64_t)length;
}

static bool is_intact(const struct pfr_seal *seal, const char *text, size_t length)
{
    uint64_t tag = 0;

    while (length > 0) {
        const char *end = memchr(text, '\n', length);
        size_t line = end ? (size_t)(end - text) + 1 : length;

        tag = chain(seal, tag, text, line);
        text += line;
        length -= line;
    }
    return tag == seal->tag;
}

/* The file of that name, all of it, and nobody else's. */
static int check_place(const struct pfr_seal *seal, int fd, int dirfd, const char *name)
{
    struct stat st, named;

    if (fstat(fd, &st) < 0 || fstatat(dirfd, name, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    return st.st_size == seal->bytes && st.st_nlink == 1 && st.st_ino == named.st_ino &&
                   st.st_dev == named.st_dev
               ? 0
               : -ESTALE;
}

int64_t pfr_seal_read(const struct pfr_seal *seal, int fd, int dirfd, const char *name,
                      char **text)
{
    size_t length = (size_t)(seal->bytes - seal->base), done = 0;
    PFR_AUTO_FREE char *read = NULL;
    int r = check_place(seal, fd, dirfd, name);

    if (r < 0)
        return r;
    read = malloc(length + 1);
    if (!read)
        return -ENOMEM;
    while (done < length) {
        ssize_t n = pread(fd, read + done, length - done, (off_t)seal->base + (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ESTALE;
        done += (size_t)n;
    }
    if (!is_intact(seal, read, length))
        return -ESTALE;
    *text = read;
    read = NULL;
    return (int64_t)length;
}
