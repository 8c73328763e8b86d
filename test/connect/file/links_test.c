/* A file spout that follows paths which lead through symbolic links: links to files in other folders (as Kubernetes has them), links to
 * folders that are swapped, links of links, and links that lead nowhere yet. All of it by notices alone. */
#include "following.h"

static void make_folder(fixture *f, const char *name) {
    assert_int_equal(mkdir(in(f, name), 0755), 0);
}

static void link_to(fixture *f, const char *name, const char *target) {
    assert_int_equal(symlink(target, in(f, name)), 0);
}

/* As `ln -sfn` and `mv -T` do it: at no moment there is none. */
static void swap_link(fixture *f, const char *name, const char *target) {
    link_to(f, "new.link", target);
    rotate(f, "new.link", name);
}

static void follow(fixture *f, const char *path) {
    f->options.path = in(f, path);
    begin(f);
}

/* Nothing but notices makes it look: it waits for them alone. */
static void expect_told(fixture *f, const char *wanted) {
    assert_true(f->said == GALE_NEXT_READABLE && is_told(f));
    expect(f, wanted);
}

static void a_file_in_another_folder_is_followed_when_it_is_rotated_there(void **state) {
    fixture *f = *state;
    make_folder(f, "pods");
    make_folder(f, "containers");
    append(f, "pods/0.log", "a1\n");
    link_to(f, "containers/app.log", "../pods/0.log");
    f->options.emit = "line, file";
    follow(f, "containers/*.log");
    expect(f, "a1 ");
    append(f, "pods/0.log", "a2\n");
    expect_told(f, "a2 ");
    rotate(f, "pods/0.log", "pods/0.log.20261128");
    append(f, "pods/0.log.20261128", "a3\n");
    expect_told(f, "a3 ");
    append(f, "pods/0.log", "b1\n");
    expect_told(f, "b1 ");
    append(f, "pods/0.log", "b2\n");
    expect_told(f, "b2 ");
}

static void a_file_that_was_rotated_away_behind_a_link_before_it_was_seen_is_read(void **state) {
    fixture *f = *state;
    make_folder(f, "pods");
    append(f, "pods/0.log", "a1\n");
    link_to(f, "app.log", "pods/0.log");
    follow(f, "app.log");
    expect(f, "a1 ");
    rotate(f, "pods/0.log", "pods/0.log.1");
    append(f, "pods/0.log", "b1\n");
    rotate(f, "pods/0.log", "pods/0.log.2");
    append(f, "pods/0.log", "c1\n");
    expect_told(f, "b1 c1 ");
}

static void a_link_that_leads_to_another_file_is_followed_there(void **state) {
    fixture *f = *state;
    make_folder(f, "pods");
    append(f, "pods/0.log", "a1\n");
    append(f, "pods/1.log", "b1\n");
    link_to(f, "app.log", "pods/0.log");
    follow(f, "app.log");
    expect(f, "a1 ");
    append(f, "pods/0.log", "a2\n");
    swap_link(f, "app.log", "pods/1.log");
    expect_told(f, "a2 b1 ");
    append(f, "pods/1.log", "b2\n");
    expect_told(f, "b2 ");
}

static void a_link_to_a_folder_that_is_swapped_leads_to_the_files_of_the_new_one(void **state) {
    static const char *const paths[] = { "current/x.log", "current/*.log", "current/sub/x.log" };
    fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        make_folder(f, "r1");
        make_folder(f, "r2");
        make_folder(f, "r1/sub");
        make_folder(f, "r2/sub");
        const char *first = i == 2 ? "r1/sub/x.log" : "r1/x.log", *second = i == 2 ? "r2/sub/x.log" : "r2/x.log";
        append(f, first, "a1\n");
        append(f, second, "b1\n");
        link_to(f, "current", "r1");
        follow(f, paths[i]);
        expect(f, "a1 ");
        append(f, first, "a2\n");
        swap_link(f, "current", "r2");
        expect_told(f, "a2 b1 ");
        append(f, second, "b2\n");
        expect_told(f, "b2 ");
        end(f);
        empty_folder(f->folder);
    }
}

static void a_folder_above_that_is_replaced_leads_to_the_files_of_the_new_one(void **state) {
    fixture *f = *state;
    make_folder(f, "top");
    make_folder(f, "top/logs");
    append(f, "top/logs/x.log", "a1\n");
    follow(f, "top/logs/x.log");
    expect(f, "a1 ");
    rotate(f, "top", "old");
    expect_told(f, "");
    make_folder(f, "top");
    expect_told(f, "");
    make_folder(f, "top/logs");
    append(f, "top/logs/x.log", "b1\n");
    expect_told(f, "b1 ");
}

static void a_link_that_leads_nowhere_is_waited_for_at_each_step(void **state) {
    fixture *f = *state;
    link_to(f, "app.log", "more/other");
    follow(f, "app.log");
    expect(f, "");
    make_folder(f, "more");
    expect_told(f, "");
    link_to(f, "more/other", "deep/0.log");
    expect_told(f, "");
    make_folder(f, "more/deep");
    expect_told(f, "");
    append(f, "more/deep/0.log", "a1\n");
    expect_told(f, "a1 ");
    rotate(f, "more/deep/0.log", "more/deep/0.log.1");
    append(f, "more/deep/0.log", "b1\n");
    expect_told(f, "b1 ");
}

static void links_in_a_circle_are_no_file_and_are_left_when_one_of_them_changes(void **state) {
    fixture *f = *state;
    link_to(f, "a.log", "b.log");
    link_to(f, "b.log", "a.log");
    link_to(f, "self.log", "self.log/x");
    append(f, "x.log", "x1\n");
    follow(f, "*.log");
    expect(f, "x1 ");
    append(f, "file", "f1\n");
    swap_link(f, "b.log", "file");
    expect_told(f, "f1 ");
}

static void two_links_to_one_file_read_it_once(void **state) {
    fixture *f = *state;
    append(f, "file", "a1\n");
    link_to(f, "1.log", "file");
    link_to(f, "2.log", "1.log");
    follow(f, "*.log");
    expect(f, "a1 ");
    assert_int_equal(unlink(in(f, "1.log")), 0);
    expect_told(f, ""); /* the other one leads nowhere, and the file is parted from */
    link_to(f, "1.log", "file");
    append(f, "file", "a2\n");
    expect_told(f, "a2 ");
}

/* A busy folder above the file's own costs nothing. */
static void what_comes_and_goes_beside_the_way_is_not_told(void **state) {
    fixture *f = *state;
    make_folder(f, "r1");
    append(f, "r1/x.log", "a1\n");
    link_to(f, "current", "r1");
    follow(f, "current/x.log");
    expect(f, "a1 ");
    append(f, "beside", "x\n");
    rotate(f, "beside", "other");
    assert_false(is_told(f));
}

/* While no run was there, the file was renamed in the folder that the link leads to, and the link leads to another one by now. */
static void a_run_that_goes_on_finds_the_file_where_the_link_led(void **state) {
    fixture *f = *state;
    f->fake.context.durable = true;
    make_folder(f, "pods");
    make_folder(f, "pods/a");
    make_folder(f, "pods/b");
    append(f, "pods/a/0.log", "a1\n");
    link_to(f, "app.log", "pods/a/0.log");
    follow(f, "app.log");
    expect(f, "a1 ");
    save(f);
    die(f);
    append(f, "pods/a/0.log", "a2\n");
    rotate(f, "pods/a/0.log", "pods/a/0.log.1");
    append(f, "pods/a/0.log", "between\n");
    append(f, "pods/b/0.log", "b1\n");
    swap_link(f, "app.log", "pods/b/0.log");
    resume(f);
    const char *got = lines(f);
    assert_non_null(strstr(got, "a2 "));
    assert_non_null(strstr(got, "b1 "));
    assert_null(strstr(got, "a1 "));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_file_in_another_folder_is_followed_when_it_is_rotated_there),
        CASE(a_file_that_was_rotated_away_behind_a_link_before_it_was_seen_is_read),
        CASE(a_link_that_leads_to_another_file_is_followed_there),
        CASE(a_link_to_a_folder_that_is_swapped_leads_to_the_files_of_the_new_one),
        CASE(a_folder_above_that_is_replaced_leads_to_the_files_of_the_new_one),
        CASE(a_link_that_leads_nowhere_is_waited_for_at_each_step),
        CASE(links_in_a_circle_are_no_file_and_are_left_when_one_of_them_changes),
        CASE(two_links_to_one_file_read_it_once),
        CASE(what_comes_and_goes_beside_the_way_is_not_told),
        CASE(a_run_that_goes_on_finds_the_file_where_the_link_led),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
