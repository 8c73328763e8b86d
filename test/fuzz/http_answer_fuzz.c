/* Bytes, read as what a server has answered: an answer to _bulk of so many documents as the first byte says, and pages of all formats. Of a bulk each document is told once, in
 * order; the rows of a page end; addresses with what was read in them have no letter that an address has not. */
#include "fuzz.h"

#include "connect/http/bulk.h"
#include "connect/http/page.h"
#include "connect/http/template.h"

#include <stdlib.h>
#include <string.h>

static void hear(void *user, size_t index, const http_bulk_item *item) {
    size_t *next = user;
    expect(index == *next && strlen(item->why) < HTTP_BULK_WHY);
    ++*next;
}

static void read_bulk(gale_str answer, size_t count) {
    size_t told = 0;
    bool is = http_bulk_read(answer, count, hear, &told);
    expect(told == (is ? count : 0));
}

static void read_page(gale_str answer, http_page_format format, const char *items, const char *cursor) {
    http_page page = { .element = NULL };
    http_buffer body = { .data = NULL };
    char *next = NULL, why[200];
    gale_str row;
    size_t bytes = 0;
    http_buffer_add(&body, answer.data, answer.size);
    int rc = http_page_open(&page, format, &body, items, cursor, &next, why, sizeof why);
    expect(!body.data && (rc == 0 || strlen(why)));
    while (http_page_next(&page, &row)) bytes += row.size;
    expect(!page.open && (format == HTTP_PAGE_ARRAY || bytes <= answer.size));
    free(next);
    http_page_fini(&page);
}

static void read_address(const char *text) {
    gale_error error = GALE_ERROR_INIT;
    http_buffer made = { .data = NULL };
    char why[200];
    bool fields;
    if (http_template_check(text, &fields, &error) == 0 && !fields) {
        expect(http_template_write(text, NULL, "name", &made, why, sizeof why) == 0);
        expect(!made.data || !strpbrk(made.data, "{} \n"));
    }
    http_buffer_fini(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    gale_str answer = { (const char *)data + 1, size - 1 };
    read_bulk(answer, *data % 8);
    read_page(answer, HTTP_PAGE_BODY, NULL, *data & 1 ? "a.b" : NULL);
    read_page(answer, HTTP_PAGE_LINES, NULL, NULL);
    read_page(answer, HTTP_PAGE_ARRAY, *data & 1 ? "a.b" : NULL, *data & 2 ? "c" : NULL);
    char *text = strndup(answer.data, answer.size);
    if (text) read_address(text);
    free(text);
    return 0;
}
