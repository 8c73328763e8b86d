/* Programs that keep something in the folder that they run in, rightly or wrongly, and tell on the standard output
 * what lasts: power_test.py says what each promises, and who must be caught.
 *
 *   victim HOW
 *
 * "state" is made of 1,500 times one digit, and moves from 1 to 3; what is told is the digit. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 1500, LINES = 6 };

static void tell(int digit) {
    char text[2] = { (char)('0' + digit), '\n' };
    (void)!write(STDOUT_FILENO, text, sizeof text);
}

static int create(const char *path, int flags) {
    return open(path, O_WRONLY | O_CREAT | flags, 0600);
}

static void put(int fd, int digit) {
    char bytes[SIZE];
    memset(bytes, '0' + digit, sizeof bytes);
    (void)!write(fd, bytes, sizeof bytes);
}

static void sync_folder(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    fsync(fd);
    close(fd);
}

static void fill(const char *path, int digit, int sync) {
    int fd = create(path, O_TRUNC);
    put(fd, digit);
    if (sync) fsync(fd);
    close(fd);
}

/* --- "state" is a whole version, and not older than what was told ------------------------------------------------- */

static void replace_well(void) {
    for (int digit = 1; digit <= 3; digit++) {
        fill("state.new", digit, 1);
        rename("state.new", "state");
        sync_folder(".");
        tell(digit);
    }
}

static void replace_without_sync(void) {
    for (int digit = 1; digit <= 3; digit++) {
        fill("state.new", digit, 0);
        rename("state.new", "state");
        sync_folder(".");
        tell(digit);
    }
}

static void replace_without_folder_sync(void) {
    for (int digit = 1; digit <= 3; digit++) {
        fill("state.new", digit, 1);
        rename("state.new", "state");
        tell(digit);
    }
}

static void replace_told_early(void) {
    for (int digit = 1; digit <= 3; digit++) {
        fill("state.new", digit, 1);
        rename("state.new", "state");
        tell(digit);
        sync_folder(".");
    }
}

static void replace_with_sync_of_another(void) {
    int other = create("other", 0);
    for (int digit = 1; digit <= 3; digit++) {
        fill("state.new", digit, 0);
        fsync(other);
        rename("state.new", "state");
        sync_folder(".");
        tell(digit);
    }
}

static void replace_with_a_gap(void) {
    replace_well();
    fill("state.new", 4, 1);
    unlink("state");
    rename("state.new", "state");
    sync_folder(".");
    tell(4);
}

static void write_in_place(void) {
    replace_well();
    int fd = open("state", O_WRONLY);
    put(fd, 4);
    fsync(fd);
    tell(4);
}

/* Two places, written in turn; the reader takes the newer that is whole. */
static void write_in_turn(void) {
    for (int digit = 1; digit <= 4; digit++) {
        fill(digit % 2 ? "place-1" : "place-0", digit, 1);
        if (digit < 3) sync_folder(".");
        tell(digit);
    }
}

/* --- "lines" has every line that was told; behind them may be anything -------------------------------------------- */

static void append(int fd, int digit) {
    char text[80];
    int size = snprintf(text, sizeof text, "line %d %060d\n", digit, digit);
    (void)!write(fd, text, (size_t)size);
}

static void append_well(void) {
    int fd = create("lines", O_APPEND);
    sync_folder(".");
    for (int digit = 1; digit <= LINES; digit++) {
        append(fd, digit);
        fdatasync(fd);
        tell(digit);
    }
}

static void append_without_sync(void) {
    int fd = create("lines", O_APPEND);
    sync_folder(".");
    for (int digit = 1; digit <= LINES; digit++) {
        append(fd, digit);
        tell(digit);
    }
}

static void append_after_sync(void) {
    int fd = create("lines", O_APPEND);
    sync_folder(".");
    for (int digit = 1; digit <= LINES; digit++) {
        fdatasync(fd);
        append(fd, digit);
        tell(digit);
    }
}

static void append_with_synced_writes(void) {
    int fd = create("lines", O_APPEND | O_DSYNC);
    sync_folder(".");
    for (int digit = 1; digit <= LINES; digit++) {
        append(fd, digit);
        tell(digit);
    }
}

static void append_to_a_file_without_a_name(void) {
    int fd = create("lines", O_APPEND);
    for (int digit = 1; digit <= LINES; digit++) {
        append(fd, digit);
        fdatasync(fd);
        tell(digit);
    }
}

static void append_and_cut(int sync) {
    append_well();
    int fd = open("lines", O_WRONLY);
    (void)!ftruncate(fd, 0);
    if (sync) fsync(fd);
    tell(0);
}

static void cut_well(void) {
    append_and_cut(1);
}

static void cut_without_sync(void) {
    append_and_cut(0);
}

/* --- "a/b/state" is there when it was told ------------------------------------------------------------------------ */

static void make_folders(int top, int middle, int last) {
    mkdir("a", 0700);
    if (top) sync_folder(".");
    mkdir("a/b", 0700);
    if (middle) sync_folder("a");
    fill("a/b/state", 1, 1);
    if (last) sync_folder("a/b");
    tell(1);
}

static void folders_well(void) {
    make_folders(1, 1, 1);
}

static void folders_without_the_top(void) {
    make_folders(0, 1, 1);
}

static void folders_without_the_middle(void) {
    make_folders(1, 0, 1);
}

static void folders_without_the_last(void) {
    make_folders(1, 1, 0);
}

/* --- "index" speaks of no more of "data" than there is ------------------------------------------------------------ */

static void index_data(int sync) {
    int data = create("data", O_APPEND), index = create("index", 0);
    sync_folder(".");
    for (int digit = 1; digit <= 3; digit++) {
        char text = (char)('0' + digit);
        put(data, digit);
        if (sync) fdatasync(data);
        (void)!pwrite(index, &text, 1, 0);
        fdatasync(index);
    }
}

static void index_well(void) {
    index_data(1);
}

static void index_before_data(void) {
    index_data(0);
}

/* --- What cannot be seen ------------------------------------------------------------------------------------------ */

static void map(void) {
    int fd = open("mapped", O_RDWR | O_CREAT, 0600);
    (void)!ftruncate(fd, SIZE);
    char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bytes[0] = 1;
}

static void print(void) {
    FILE *file = fopen("printed", "w");
    fputs("text\n", file);
    fclose(file);
}

#define HOW(name)                                                                                                      \
    { #name, name }

static const struct how {
    const char *name;
    void (*lives)(void);
} all[] = {
    HOW(replace_well),
    HOW(replace_without_sync),
    HOW(replace_without_folder_sync),
    HOW(replace_told_early),
    HOW(replace_with_sync_of_another),
    HOW(replace_with_a_gap),
    HOW(write_in_place),
    HOW(write_in_turn),
    HOW(append_well),
    HOW(append_without_sync),
    HOW(append_after_sync),
    HOW(append_with_synced_writes),
    HOW(append_to_a_file_without_a_name),
    HOW(cut_well),
    HOW(cut_without_sync),
    HOW(folders_well),
    HOW(folders_without_the_top),
    HOW(folders_without_the_middle),
    HOW(folders_without_the_last),
    HOW(index_well),
    HOW(index_before_data),
    HOW(map),
    HOW(print),
};

int main(int count, char **words) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (count == 2 && strcmp(words[1], all[i].name) == 0) {
            all[i].lives();
            return 0;
        }
    fprintf(stderr, "usage: victim HOW\n");
    return 2;
}
