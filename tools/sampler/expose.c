#include "tools/sampler/expose.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/fd.h"
#include "common/base/log.h"
#include "common/record/file.h"
#include "common/record/openmetrics.h"

/*
 * Where: the path, or of a directory a file in it that no other step has. The
 * directory's fd, or -errno.
 */
static int open_place(const struct pfr_options *options, char name[static NAME_MAX + 1])
{
    const char *path = options->openmetrics, *slash = strrchr(path, '/');
    char dir[PATH_MAX];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        snprintf(name, NAME_MAX + 1, PFR_OPENMETRICS_FILE, options->job, options->step,
                 options->node);
        return fd;
    }
    if ((size_t)snprintf(name, NAME_MAX + 1, "%s", slash ? slash + 1 : path) > NAME_MAX ||
        (size_t)snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path + 1) : 1,
                         slash ? path : ".") >= sizeof(dir))
        return -ENAMETOOLONG;
    if (!*name)
        return -EISDIR;
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* For the collector to read, whatever the user's mask. */
static int put_text(struct pfr_exposed *exposed, const char *text, size_t length)
{
    struct pfr_new_file file;
    struct stat st = { 0 };
    int r;

    /* a link or a FIFO is somebody's, and stays */
    if (fstatat(exposed->dirfd, exposed->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISREG(st.st_mode))
        return -EEXIST;
    if ((r = pfr_new_file_open(&file, exposed->dirfd, exposed->name)) < 0)
        return r;
    r = pfr_fd_write_all(file.fd, text, length);
    if (r < 0 || fchmod(file.fd, 0644) < 0 || fstat(file.fd, &st) < 0) {
        pfr_new_file_abandon(&file);
        return r < 0 ? r : -EIO;
    }
    r = pfr_new_file_commit(&file);
    if (r == 0)
        exposed->inode = st.st_ino;
    return r;
}

static int write_file(struct pfr_session *session, struct json_object *summary)
{
    struct pfr_exposed *exposed = &session->exposed;
    PFR_AUTO_FREE char *text = NULL;
    size_t length = 0;
    FILE *out;

    if (exposed->dirfd < 0)
        exposed->dirfd = open_place(&session->options, exposed->name);
    if (exposed->dirfd < 0)
        return exposed->dirfd;
    out = open_memstream(&text, &length);
    if (!out)
        return -ENOMEM;
    pfr_openmetrics_write(out, &summary, 1);
    if (fclose(out) != 0)
        return -ENOMEM;
    return put_text(exposed, text, length);
}

void pfr_expose_write(struct pfr_session *session, struct json_object *summary)
{
    int r;

    if (!session->options.openmetrics || !summary)
        return;
    r = write_file(session, summary);
    if (r < 0 && !session->exposed.told) {
        session->exposed.told = true;
        pfr_warning("cannot write metrics to %s: %s; going on without",
                    session->options.openmetrics, strerror(-r));
    }
}

void pfr_expose_remove(struct pfr_session *session)
{
    struct pfr_exposed *exposed = &session->exposed;
    struct stat st;

    if (exposed->dirfd < 0)
        return;
    if (exposed->inode &&
        fstatat(exposed->dirfd, exposed->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_ino == exposed->inode)
        unlinkat(exposed->dirfd, exposed->name, 0);
    close(exposed->dirfd);
    exposed->dirfd = -1;
}

void pfr_expose_clean(const struct pfr_options *options)
{
    char name[NAME_MAX + 1];
    struct stat st;
    PFR_AUTO_FD dir = options->openmetrics ? open_place(options, name) : -1;

    if (dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
        st.st_uid == geteuid())
        unlinkat(dir, name, 0);
}
