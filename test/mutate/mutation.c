/* Follows base/error.c in the copy that is built with mutations.
 *
 * GX_MUTATION=17 in the environment switches mutation 17 on. GX_MUTATION_REACHED=DIR has a process leave DIR/<pid>
 * at its orderly end: a byte a mutation, '1' where the program came by it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int gx_mutation_on;
char gx_mutation_reached[GX_MUTATIONS_MAX];

__attribute__((constructor)) static void read_environment(void) {
    const char *number = getenv("GX_MUTATION");
    if (number) gx_mutation_on = atoi(number);
}

__attribute__((destructor)) static void write_reached(void) {
    const char *directory = getenv("GX_MUTATION_REACHED");
    if (!directory) return;
    char name[4096];
    snprintf(name, sizeof name, "%s/%ld", directory, (long)getpid());
    int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (fd < 0) return;
    for (int i = 0; i < GX_MUTATIONS_MAX; i++) gx_mutation_reached[i] = (char)('0' + gx_mutation_reached[i]);
    if (write(fd, gx_mutation_reached, GX_MUTATIONS_MAX) != GX_MUTATIONS_MAX) perror(name);
    close(fd);
}
