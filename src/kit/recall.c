#include "kit/recall.h"

#include "kit/record.h"

int gx_recall_refuse(const gx_recall *recall, const char *what) {
    gx_define_report(recall->out, "%s: record %llu of what was saved %s", recall->who,
                     (unsigned long long)recall->record, what);
    return GALE_DAMAGED;
}

int gx_recall_next(gx_recall *recall, const char *shape, const gale_value **ret_values) {
    int rc = gx_record_take(recall->from, shape, ret_values);
    recall->record += rc != 0;
    return rc == GALE_DAMAGED ? gx_recall_refuse(recall, "is not of the shape that it was written in") : rc;
}

int gx_recall_one(gx_recall *recall, const char *shape, const gale_value **ret_values) {
    int rc = gx_recall_next(recall, shape, ret_values);
    if (rc > 0) return GALE_OK;
    recall->record += rc == 0;
    return rc < 0 ? rc : gx_recall_refuse(recall, "is not there");
}

bool gx_recall_is_same(const gx_recall *recall) {
    return gale_saved_is_mine(recall->from);
}

bool gx_recall_owns(const gx_recall *recall, const gale_value *key, size_t count) {
    return gx_recall_is_same(recall) || gale_saved_is_own(recall->from, key, count);
}

bool gx_recall_inherits(const gx_recall *recall) {
    uint32_t parts, part = gale_saved_part(recall->from, &parts);
    return gx_recall_is_same(recall) || part % recall->context->task_count == recall->context->task_index;
}
