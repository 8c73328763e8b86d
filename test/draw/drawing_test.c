#include "draw/drawing.h"

#include "draw/graphs.h"
#include "draw/json.h"
#include "draw/languages.h"
#include "draw/svg.h"
#include "draw/text.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

static made_graph made;
static gx_heap heap;
static gx_drawing d;

static int fresh(void **state) {
    (void)state;
    gx_heap_init(&heap, NULL);
    return 0;
}

static int done(void **state) {
    (void)state;
    return gx_heap_reserved(&heap) == 0 ? 0 : -1;
}

static void draw(bool down) {
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_drawing_new(&heap, &made.graph, down, &d, &error), 0);
}

/* --- Points -------------------------------------------------------------------------------------------------------- */

static bool overlap(const gx_drawn_node *a, const gx_drawn_node *b) {
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static bool is_inside(gx_point p) {
    return p.x >= 0 && p.y >= 0 && p.x <= d.width && p.y <= d.height;
}

static void check_boxes(void) {
    for (uint32_t a = 0; a < made.graph.node_count; a++) {
        const gx_drawn_node *box = &d.nodes[a];
        assert_true(is_inside((gx_point){ box->x, box->y }) &&
                    is_inside((gx_point){ box->x + box->width, box->y + box->height }));
        for (uint32_t b = a + 1; b < made.graph.node_count; b++) assert_false(overlap(box, &d.nodes[b]));
    }
}

static bool touches(const gx_drawn_node *box, gx_point p) {
    return p.x >= box->x && p.x <= box->x + box->width && p.y >= box->y && p.y <= box->y + box->height;
}

/* Along the flow, or against it where the edge closes a cycle; from its component to its component; over no other. */
static void check_edges(bool down) {
    for (uint32_t e = 0; e < made.graph.edge_count; e++) {
        const gx_graph_edge *edge = &made.edges[e];
        const gx_drawn_edge *drawn = &d.edges[e];
        assert_true(drawn->point_count >= 4);
        assert_true(touches(&d.nodes[edge->from], drawn->points[0]));
        assert_true(touches(&d.nodes[edge->to], drawn->points[drawn->point_count - 1]));
        assert_true(is_inside(drawn->label));
        for (uint32_t i = 0; i < drawn->point_count; i++) assert_true(is_inside(drawn->points[i]));
        for (uint32_t i = 1; edge->from != edge->to && i < drawn->point_count; i++) {
            gx_point a = drawn->points[edge->back ? i : i - 1], b = drawn->points[edge->back ? i - 1 : i];
            assert_true(down ? a.y <= b.y : a.x <= b.x);
            for (uint32_t n = 0; n < made.graph.node_count; n++)
                if (n != edge->from && n != edge->to) assert_false(touches(&d.nodes[n], a));
        }
    }
}

static void check(void) {
    for (int down = 0; down < 2; down++) {
        draw(down);
        check_boxes();
        check_edges(down);
        gx_drawing_free(&d);
    }
}

static void nothing_is_an_empty_sheet(void **state) {
    (void)state;
    graph_begin(&made, 0);
    draw(false);
    assert_int_equal(d.width, 2 * GX_DRAWN_MARGIN);
    assert_int_equal(d.height, 2 * GX_DRAWN_MARGIN);
    gx_drawing_free(&d);
}

static void boxes_are_apart_and_edges_go_along_the_flow(void **state) {
    (void)state;
    graph_begin(&made, 1);
    check();
    for (uint32_t seed = 1; seed <= 15; seed++) {
        graph_random(&made, 3 + seed * 4, (3 + seed * 4) * (1 + seed % 3), 2 + seed % 9, seed);
        check();
    }
}

static void cycles_and_loops_are_drawn(void **state) {
    (void)state;
    graph_begin(&made, 4);
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 1, 1, true);
    graph_edge(&made, 1, 1, true);
    graph_edge(&made, 1, 2, false);
    graph_edge(&made, 2, 3, false);
    graph_edge(&made, 3, 1, true);
    check();
}

/* --- All forms ----------------------------------------------------------------------------------------------------- */

static void write_all(gx_heap *on, gx_buf *out, bool *ret_whole) {
    gale_error error = GALE_ERROR_INIT;
    gx_drawing drawing;
    uint32_t width;
    const gx_text_options wide = { 0, false }, narrow = { 10, true };
    gx_json json = gx_json_to(out);
    int rc = gx_drawing_new(on, &made.graph, false, &drawing, &error);
    if (rc == 0) {
        gx_svg_write(&drawing, out);
        gx_drawing_json_whole(&drawing, &json);
        gx_drawing_free(&drawing);
    }
    gx_dot_write(&made.graph, true, out);
    gx_mermaid_write(&made.graph, true, out);
    if (rc == 0) rc = gx_text_draw(on, &made.graph, &wide, out, &width, &error);
    if (rc == 0) rc = gx_text_draw(on, &made.graph, &narrow, out, &width, &error);
    *ret_whole = rc == 0 && !out->failed;
    if (rc < 0) assert_int_equal(error.code, GALE_NO_MEMORY);
}

static void make_all_kinds(void) {
    static char word[] = "word", quoted[] = "a \"b\"", *fields[] = { word, quoted };
    graph_begin(&made, 5);
    made.nodes[2].class_name = "org.example.Some<Class>";
    made.nodes[3].name = "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e, long enough to be cut somewhere: 0123456789 0123456789";
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 1, 2, false);
    graph_edge(&made, 1, 3, false);
    graph_edge(&made, 2, 2, true);
    graph_edge(&made, 2, 4, false);
    graph_edge(&made, 3, 4, false);
    graph_edge(&made, 4, 1, true);
    made.edges[1].stream = "side";
    made.edges[1].drop = GALE_DROP_OLDEST;
    made.edges[2].grouping = GALE_GROUPING_FIELDS;
    made.edges[2].fields = fields;
    made.edges[2].field_count = 2;
}

static void without_memory_nothing_is_left_behind(void **state) {
    (void)state;
    make_all_kinds();
    for (size_t n = 1, failed = 1; failed; n++) {
        counting_allocator counting = { .fail_at = n };
        gale_allocator handle = counting_handle(&counting);
        gx_heap small;
        bool whole;
        gx_heap_init(&small, &handle);
        gx_buf out = GX_BUF_INIT(&small);
        write_all(&small, &out, &whole);
        failed = counting.calls >= n;
        assert_int_equal(whole, !failed);
        gx_buf_fini(&out);
        assert_int_equal(counting.blocks, 0);
    }
}

static void the_same_topology_is_always_drawn_the_same(void **state) {
    (void)state;
    gx_buf first = GX_BUF_INIT(&heap), second = GX_BUF_INIT(&heap);
    bool whole;
    make_all_kinds();
    write_all(&heap, &first, &whole);
    write_all(&heap, &second, &whole);
    assert_true(whole && first.size == second.size);
    assert_memory_equal(first.data, second.data, first.size);
    gx_buf_fini(&first);
    gx_buf_fini(&second);
}

static void a_thousand_components_are_drawn_in_every_form(void **state) {
    (void)state;
    gx_buf out = GX_BUF_INIT(&heap);
    bool whole;
    graph_random(&made, 1000, 1000, 40, 11);
    write_all(&heap, &out, &whole);
    assert_true(whole);
    gx_buf_fini(&out);
}

/* --- Characters ---------------------------------------------------------------------------------------------------- */

static void assert_text(uint32_t columns, const char *wanted) {
    gale_error error = GALE_ERROR_INIT;
    gx_buf out = GX_BUF_INIT(&heap);
    uint32_t width;
    const gx_text_options options = { columns, true };
    assert_int_equal(gx_text_draw(&heap, &made.graph, &options, &out, &width, &error), 0);
    assert_string_equal(gx_buf_text(&out) ? gx_buf_text(&out) : "", wanted);
    gx_buf_fini(&out);
}

static void nothing_takes_no_line(void **state) {
    (void)state;
    graph_begin(&made, 0);
    assert_text(0, "");
}

static void edges_fork_and_join_and_share_a_line(void **state) {
    (void)state;
    graph_begin(&made, 4);
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 0, 2, false);
    graph_edge(&made, 0, 2, false);
    graph_edge(&made, 1, 3, false);
    graph_edge(&made, 2, 3, false);
    made.edges[2].stream = "side";
    assert_text(0, "       +=======+\n"
                   "       | n0000 |\n"
                   "       | spout |\n"
                   "       +===+===+\n"
                   "     +-----+------+\n"
                   "     | shuffle    | shuffle\n"
                   "     |            | side: shuffle\n"
                   "+----v----+  +----v----+\n"
                   "|  n0001  |  |  n0002  |\n"
                   "| bolt x2 |  | bolt x3 |\n"
                   "+----+----+  +----+----+\n"
                   "     | shuffle    | shuffle\n"
                   "     +-----+------+\n"
                   "       +---v---+\n"
                   "       | n0003 |\n"
                   "       | bolt  |\n"
                   "       +-------+\n");
}

static void what_goes_back_is_dashed_and_ends_below_its_box(void **state) {
    (void)state;
    graph_begin(&made, 3);
    graph_edge(&made, 0, 1, false);
    graph_edge(&made, 1, 1, true);
    graph_edge(&made, 1, 2, false);
    graph_edge(&made, 2, 1, true);
    assert_text(0, "     +=======+\n"
                   "     | n0000 |\n"
                   "     | spout |\n"
                   "     +===+===+\n"
                   "         | shuffle\n"
                   "+--------v-------+\n"
                   "|     n0001      |\n"
                   "|    bolt x2     |\n"
                   "| again: shuffle |\n"
                   "+--+----------^--+\n"
                   "   | shuffle  : shuffle\n"
                   "   +-----+  +.+\n"
                   "    +----v--+-+\n"
                   "    |  n0002  |\n"
                   "    | bolt x3 |\n"
                   "    +---------+\n");
}

static void a_name_is_cut_where_the_terminal_is_narrow(void **state) {
    (void)state;
    graph_begin(&made, 2);
    graph_edge(&made, 0, 1, false);
    made.nodes[0].name = "a-name-that-is-too-long-for-a-narrow-terminal";
    made.nodes[0].class_name = "org.example.Words";
    assert_text(0, "+===============================================+\n"
                   "| a-name-that-is-too-long-for-a-narrow-terminal |\n"
                   "|               org.example.Words               |\n"
                   "+=======================+=======================+\n"
                   "                        | shuffle\n"
                   "                   +----v----+\n"
                   "                   |  n0001  |\n"
                   "                   | bolt x2 |\n"
                   "                   +---------+\n");
    assert_text(40, "+==================================+\n"
                    "| a-name-that-is-too-long-for-a... |\n"
                    "|              Words               |\n"
                    "+=================+================+\n"
                    "                  | shuffle\n"
                    "             +----v----+\n"
                    "             |  n0001  |\n"
                    "             | bolt x2 |\n"
                    "             +---------+\n");
    assert_text(1, "+================+\n"
                   "| a-name-that... |\n"
                   "|     Words      |\n"
                   "+========+=======+\n"
                   "         | shuffle\n"
                   "    +----v----+\n"
                   "    |  n0001  |\n"
                   "    | bolt x2 |\n"
                   "    +---------+\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_an_empty_sheet, fresh, done),
        cmocka_unit_test_setup_teardown(boxes_are_apart_and_edges_go_along_the_flow, fresh, done),
        cmocka_unit_test_setup_teardown(cycles_and_loops_are_drawn, fresh, done),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_left_behind, fresh, done),
        cmocka_unit_test_setup_teardown(the_same_topology_is_always_drawn_the_same, fresh, done),
        cmocka_unit_test_setup_teardown(a_thousand_components_are_drawn_in_every_form, fresh, done),
        cmocka_unit_test_setup_teardown(nothing_takes_no_line, fresh, done),
        cmocka_unit_test_setup_teardown(edges_fork_and_join_and_share_a_line, fresh, done),
        cmocka_unit_test_setup_teardown(what_goes_back_is_dashed_and_ends_below_its_box, fresh, done),
        cmocka_unit_test_setup_teardown(a_name_is_cut_where_the_terminal_is_narrow, fresh, done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
