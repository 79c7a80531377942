/*
 * What we wrote ourselves into a file that its owner can write, too. Before
 * such a file is read back it is compared with the seal: its size, its place
 * and a hash of its lines, whose key nobody else has. So the sampler parses
 * nothing but its own text, and never more of it than it wrote.
 */
#ifndef PFR_RECORD_SEAL_H
#define PFR_RECORD_SEAL_H

#include <stddef.h>
#include <stdint.h>

struct pfr_seal {
    uint64_t key[2], tag;
    int64_t base;  /* where our part begins: an earlier run may have written before it */
    int64_t bytes; /* the size of the file, as we left it */
};

/* Our part begins at the end of the file. 0 or -errno. */
int pfr_seal_begin(struct pfr_seal *seal, int fd);

/* A line was appended, length bytes with its newline. */
void pfr_seal_add(struct pfr_seal *seal, const char *line, size_t length);

/*
 * Our part of the file (free it), whose descriptor is fd and whose name is
 * dirfd/name. Its length, -ESTALE when it is not as we left it, -errno.
 */
int64_t pfr_seal_read(const struct pfr_seal *seal, int fd, int dirfd, const char *name,
                      char **text);

#endif
