#include "common/record/bound.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/base/parse.h"
#include "common/record/compact.h"
#include "common/record/file.h"

int64_t pfr_series_room(const struct pfr_series *series, int64_t now)
{
    int64_t hours = (now - series->info->start) / (3600 * PFR_NS_PER_S) + 1;

    return hours * PFR_SERIES_PER_HOUR < series->limit ? hours * PFR_SERIES_PER_HOUR
                                                       : series->limit;
}

bool pfr_series_has_command_room(const struct pfr_series *series, int64_t now)
{
    return series->command_bytes < pfr_series_room(series, now) / 4;
}

static int64_t own_bytes(const struct pfr_series *series)
{
    return series->seal.bytes - series->seal.base;
}

/* What an earlier run left in the file stays as it is; nobody reads it. */
static int copy_earlier(const struct pfr_series *series, int fd)
{
    char part[65536];
    int64_t done = 0;

    while (done < series->seal.base) {
        int64_t left = series->seal.base - done;
        ssize_t n = pread(series->fd, part, left < (int64_t)sizeof(part) ? (size_t)left
                                                                         : sizeof(part), done);
        int r = n < 0 ? -errno : n == 0 ? -ESTALE : pfr_fd_write_all(fd, part, (size_t)n);

        if (r < 0)
            return r;
        done += n;
    }
    return 0;
}

/* Writes the new file, whose descriptor becomes the series's. */
static int rewrite(struct pfr_series *series, struct pfr_compaction *how, const char *text,
                   size_t length)
{
    struct pfr_new_file file;
    struct pfr_seal seal;
    PFR_AUTO_FD fd = -1;
    int r = pfr_new_file_open(&file, series->dirfd, series->name);

    if (r < 0)
        return r;
    r = copy_earlier(series, file.fd);
    if (r == 0)
        r = pfr_seal_begin(&seal, file.fd);
    if (r == 0)
        r = pfr_series_compact(how, text, length, file.fd, &seal);
    if (r == 0 && (fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 0)) < 0)
        r = -errno;
    if (r < 0) {
        pfr_new_file_abandon(&file);
        return r;
    }
    r = pfr_new_file_commit(&file);
    if (r < 0)
        return r;
    fcntl(fd, F_SETFL, O_APPEND);
    close(series->fd);
    series->fd = pfr_take_fd(&fd);
    series->seal = seal;
    series->command_bytes = how->command_bytes;
    return 0;
}

static int shorten(struct pfr_series *series, int64_t now)
{
    struct pfr_compaction how = { .span = (double)series->span / (double)PFR_NS_PER_S,
                                  .most_processes = 2 * series->info->top,
                                  .command_room = pfr_series_room(series, now) / 4 };
    PFR_AUTO_FREE char *text = NULL;
    int64_t length = pfr_seal_read(&series->seal, series->fd, series->dirfd, series->name, &text);
    int r = length < 0 ? (int)length : rewrite(series, &how, text, (size_t)length);

    /* Command lines that no row spoke of are gone from the file: say them again. */
    if (r == 0 && series->announced)
        memset(series->announced, 0, series->announced_capacity * sizeof(*series->announced));
    return r;
}

/* It is not what we wrote: neither read nor written any more. */
static void give_up(struct pfr_series *series)
{
    pfr_warning("%s was changed by somebody else; the series ends here", series->name);
    close(series->fd);
    series->fd = -1;
    series->errors++;
}

/*
 * Past its room: to half of it, by merging up to the span that it takes, which
 * grows with the logarithm of the run's length. When all that was until now is
 * one window it cannot become smaller; then it may grow by a quarter of its
 * room before that is tried again.
 */
void pfr_series_bound(struct pfr_series *series, int64_t now)
{
    int64_t most = pfr_series_room(series, now), all = now - series->info->start;
    int r = 0;

    if (series->fd < 0 || own_bytes(series) < most || own_bytes(series) < series->again)
        return;
    for (int i = 0; r == 0 && own_bytes(series) > most / 2 && (i == 0 || series->span < all); i++) {
        if (series->span < all && (i > 0 || series->span == series->info->window))
            series->span *= 2;
        r = shorten(series, now);
    }
    series->again = own_bytes(series) + most / 4;
    if (r == -ESTALE || r == -ENOENT)
        give_up(series);
    else if (r < 0)
        pfr_series_note_error(series, r);
}
