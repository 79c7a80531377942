/*
 * Reading files once, and nothing else: each path of standard input is opened,
 * read to its end and closed. What reads them and understands them is held
 * against this. Prints the bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    static char buffer[1 << 16];
    char *path = NULL;
    size_t size = 0;
    long long bytes = 0;

    while (getline(&path, &size, stdin) > 0) {
        ssize_t n;
        int fd;

        path[strcspn(path, "\n")] = '\0';
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            perror(path);
            return EXIT_FAILURE;
        }
        while ((n = read(fd, buffer, sizeof(buffer))) > 0)
            bytes += n;
        close(fd);
    }
    free(path);
    printf("%lld\n", bytes);
    return EXIT_SUCCESS;
}
