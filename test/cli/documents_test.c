#include "cli/documents.h"

#include "base/str.h"
#include "harness/cm.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

typedef struct folder {
    char path[64];
} folder;

static int make_folder(void **state) {
    static folder made;
    snprintf(made.path, sizeof made.path, "/tmp/gale-documents-XXXXXX");
    *state = &made;
    return mkdtemp(made.path) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", ((folder *)*state)->path);
    return system(command);
}

static const char *in(const folder *f, const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

static void write_file(const folder *f, const char *name, const char *text, size_t size) {
    FILE *file = fopen(in(f, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static void write_packed(const folder *f, const char *name, const char *text) {
    gzFile file = gzopen(in(f, name), "wb");
    assert_non_null(file);
    assert_true(gzputs(file, text) >= 0);
    gzclose(file);
}

static gx_documents found(const char *path) {
    gx_documents documents;
    gale_error error = GALE_ERROR_INIT;
    if (gx_documents_find(&path, 1, &documents, &error) < 0) fail_msg("%s", error.text);
    return documents;
}

static void expect_line(gx_reader *reader, const char *text) {
    gale_str line;
    size_t document;
    assert_true(gx_reader_next(reader, &line, &document));
    if (!gx_str_is(line, text)) fail_msg("'%.*s' is not '%s'", GX_STR(line), text);
}

static void expect_end(gx_reader *reader) {
    gale_str line;
    size_t document;
    assert_false(gx_reader_next(reader, &line, &document));
}

static void what_is_not_there_is_an_error(void **state) {
    gx_documents documents;
    gale_error error = GALE_ERROR_INIT;
    const char *path = "/no/such/path";
    assert_int_equal(gx_documents_find(&path, 1, &documents, &error), GALE_IO);
    assert_string_equal(error.text, "cannot open '/no/such/path': No such file or directory");
    folder *f = *state;
    path = f->path;
    assert_int_equal(gx_documents_find(&path, 1, &documents, &error), GALE_NOT_FOUND);
}

static void folder_is_searched_for_text_and_nothing_else(void **state) {
    folder *f = *state;
    write_file(f, "b", "text\n", 5);
    write_packed(f, "a.gz", "packed text\n");
    write_file(f, "binary", "x\0y", 3);
    write_file(f, "empty", "", 0);
    write_file(f, ".hidden", "text\n", 5);
    char inner[200];
    snprintf(inner, sizeof inner, "%s/c", f->path);
    assert_int_equal(mkdir(inner, 0700), 0);
    write_file(f, "c/d", "text\n", 5);
    char link_path[200];
    snprintf(link_path, sizeof link_path, "%s/link", f->path);
    assert_int_equal(symlink("b", link_path), 0);
    gx_documents documents = found(f->path);
    assert_int_equal(documents.count, 3);
    assert_string_equal(documents.paths[0], in(f, "a.gz"));
    assert_string_equal(documents.paths[1], in(f, "b"));
    assert_string_equal(documents.paths[2], in(f, "c/d"));
    gx_documents_fini(&documents);
}

static void lines_come_without_their_ends(void **state) {
    folder *f = *state;
    write_packed(f, "a.gz", "one\r\n\ntwo");
    gx_documents documents = found(in(f, "a.gz"));
    gx_reader *reader = gx_reader_new(&documents, 1, false);
    expect_line(reader, "one");
    expect_line(reader, "");
    expect_line(reader, "two");
    expect_end(reader);
    expect_end(reader);
    gx_reader_free(reader);
    gx_documents_fini(&documents);
}

static void long_lines_are_cut(void **state) {
    folder *f = *state;
    static char text[2 * GX_DOCUMENT_LINE];
    memset(text, 'x', sizeof text);
    write_file(f, "long", text, sizeof text);
    gx_documents documents = found(in(f, "long"));
    gx_reader *reader = gx_reader_new(&documents, 1, false);
    size_t size = 0, document;
    for (gale_str line; gx_reader_next(reader, &line, &document);) {
        assert_true(line.size < GX_DOCUMENT_LINE);
        size += line.size;
    }
    assert_int_equal(size, sizeof text);
    gx_reader_free(reader);
    gx_documents_fini(&documents);
}

static void manual_pages_lose_their_markup(void **state) {
    folder *f = *state;
    write_packed(f, "page.1.gz",
                 ".\\\" a comment\n.TH GALE 1\n.SH NAME\ngale \\- runs \\fBtopologies\\fR\n.B bold words\n.PP\n"
                 "a\\(emb \\*(lqquoted\\*(rq \\s-1SMALL\\s0 \\&.end\nback\\\n");
    gx_documents documents = found(in(f, "page.1.gz"));
    gx_reader *reader = gx_reader_new(&documents, 1, false);
    expect_line(reader, "");
    expect_line(reader, "");
    expect_line(reader, " NAME");
    expect_line(reader, "gale - runs topologies");
    expect_line(reader, " bold words");
    expect_line(reader, "");
    expect_line(reader, "a b quoted SMALL .end");
    expect_line(reader, "back\\");
    expect_end(reader);
    gx_reader_free(reader);
    gx_documents_fini(&documents);
}

static void repeating_reader_goes_round_and_one_seed_gives_one_order(void **state) {
    folder *f = *state;
    for (char name[2] = "a"; name[0] <= 'h'; name[0]++) write_file(f, name, name, 1);
    gx_documents documents = found(f->path);
    gx_reader *one = gx_reader_new(&documents, 7, true), *two = gx_reader_new(&documents, 7, true);
    unsigned seen = 0;
    for (int i = 0; i < 24; i++) {
        gale_str a, b;
        size_t document;
        assert_true(gx_reader_next(one, &a, &document));
        seen |= 1u << document;
        assert_string_equal(documents.paths[document], in(f, (char[2]){ a.data[0], 0 }));
        assert_true(gx_reader_next(two, &b, &document));
        assert_true(gx_str_equal(a, b));
        if (i == 7) assert_int_equal(seen, 0xff);
    }
    gx_reader_free(one);
    gx_reader_free(two);
    gx_documents_fini(&documents);
}

static void nothing_readable_does_not_turn_for_ever(void **state) {
    folder *f = *state;
    write_file(f, "a", "text", 4);
    gx_documents documents = found(f->path);
    unlink(in(f, "a"));
    gx_reader *reader = gx_reader_new(&documents, 1, true);
    expect_end(reader);
    gx_reader_free(reader);
    gx_documents_fini(&documents);
    assert_int_equal(documents.count, 0);
    reader = gx_reader_new(&documents, 1, true);
    expect_end(reader);
    gx_reader_free(reader);
    gx_reader_free(NULL);
}

static void carried_text_is_there_when_all_else_is_not(void **state) {
    (void)state;
    char *path = (char[1]){ 0 };
    gx_documents documents = { &path, 1 };
    gx_reader *reader = gx_reader_new(&documents, 1, false);
    expect_line(reader, "A topology is a graph of spouts and bolts that streams connect.");
    gx_reader_free(reader);
}

static void machine_always_has_something(void **state) {
    (void)state;
    gx_documents documents;
    assert_int_equal(gx_documents_find_any(&documents, NULL), 0);
    assert_true(documents.count > 0);
    gx_documents_fini(&documents);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_not_there_is_an_error),
        IN_FOLDER(folder_is_searched_for_text_and_nothing_else),
        IN_FOLDER(lines_come_without_their_ends),
        IN_FOLDER(long_lines_are_cut),
        IN_FOLDER(manual_pages_lose_their_markup),
        IN_FOLDER(repeating_reader_goes_round_and_one_seed_gives_one_order),
        IN_FOLDER(nothing_readable_does_not_turn_for_ever),
        cmocka_unit_test(carried_text_is_there_when_all_else_is_not),
        cmocka_unit_test(machine_always_has_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
