// A plugin in C++17: a bolt that counts, and tells of what there was most of when its input has ended.
//
//      tally.bolt.Tally -> (what, count)
//
// What gale calls is C: no exception leaves a function that is in one of its tables.
#include <gale/plugin.h>
#include <gale/state.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

struct Options {
    std::string field;
    std::size_t most = 0;
};

class Tally {
public:
    explicit Tally(const Options &options) : options_(options) {}

    int execute(const gale_tuple *tuple) {
        gale_value what;
        if (!gale_tuple_get(tuple, options_.field.c_str(), &what)) return GALE_FIELDS;
        if (what.type != GALE_TYPE_STRING) return GALE_TYPE;
        counts_[std::string(what.as.string, what.size)]++;
        return 0;
    }

    int finish(gale_collector *out) const {
        std::vector<std::pair<std::string, std::int64_t>> rows(counts_.begin(), counts_.end());
        std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
            return a.second != b.second ? a.second > b.second : a.first < b.first;
        });
        if (rows.size() > options_.most) rows.resize(options_.most);
        for (const auto &row : rows) {
            const gale_value values[] = { gale_string(row.first.data(), row.first.size()), gale_i64(row.second) };
            const int rc = gale_emit_unanchored(out, 0, values, 2);
            if (rc < 0) return rc;
        }
        return 0;
    }

    int save(gale_saver *to) const {
        for (const auto &[what, count] : counts_) {
            const gale_value values[] = { gale_string(what.data(), what.size()), gale_i64(count) };
            const int rc = gale_save(to, values, 2);
            if (rc < 0) return rc;
        }
        return 0;
    }

    int restore(gale_saved *from) {
        const gale_value *values = nullptr;
        std::size_t count = 0;
        int rc = 0;
        while ((rc = gale_saved_next(from, &values, &count)) > 0) {
            if (count != 2 || values[0].type != GALE_TYPE_STRING || values[1].type != GALE_TYPE_I64) return GALE_DAMAGED;
            counts_[std::string(values[0].as.string, values[0].size)] += values[1].as.i64;
        }
        return rc;
    }

private:
    Options options_;
    std::unordered_map<std::string, std::int64_t> counts_;
};

// What would leave as an exception becomes a code.
template <typename Call> int guarded(Call call) noexcept {
    try {
        return call();
    } catch (const std::bad_alloc &) {
        return GALE_NO_MEMORY;
    } catch (...) {
        return GALE_COMPONENT;
    }
}

int prepare(void *user, const gale_context *, gale_collector *, void **ret_self) {
    return guarded([&] { return *ret_self = new Tally(*static_cast<const Options *>(user)), 0; });
}

int execute(void *self, const gale_tuple *tuple, gale_collector *) {
    return guarded([&] { return static_cast<Tally *>(self)->execute(tuple); });
}

int finish(void *self, gale_collector *out) {
    return guarded([&] { return static_cast<Tally *>(self)->finish(out); });
}

int save(void *self, gale_saver *to) {
    return guarded([&] { return static_cast<Tally *>(self)->save(to); });
}

int restore(void *self, gale_saved *from, gale_collector *) {
    return guarded([&] { return static_cast<Tally *>(self)->restore(from); });
}

void cleanup(void *self) {
    delete static_cast<Tally *>(self);
}

void free_options(void *user) {
    delete static_cast<Options *>(user);
}

// Tables are filled in by name, in a function: C++17 has no designated initialisers, and a field that a later version appends
// stays zero.
const gale_bolt_ops *ops() {
    static const gale_durable_ops durable = [] {
        gale_durable_ops d = {};
        d.size = sizeof d;
        d.version = 1;
        d.save = save;
        d.restore = restore;
        return d;
    }();
    static const gale_bolt_ops table = [] {
        gale_bolt_ops t = {};
        t.size = sizeof t;
        t.name = "tally";
        t.prepare = prepare;
        t.execute = execute;
        t.finish = finish;
        t.cleanup = cleanup;
        t.durable = &durable;
        return t;
    }();
    return &table;
}

int make(void *, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_output row = { nullptr, "what, count" };
    const int rc = guarded([&] {
        auto *options = new Options{ gale_args_text(args, "field"), static_cast<std::size_t>(gale_args_whole(args, "most")) };
        ret_bolt->ops = ops();
        ret_bolt->user = options;
        ret_bolt->free_user = free_options;
        ret_bolt->outputs = &row;
        ret_bolt->output_count = 1;
        return 0;
    });
    return rc < 0 ? gale_error_set(error, rc, "out of memory") : 0;
}

const gale_param params[] = {
    GALE_PARAM_MORE("field", GALE_PARAM_FIELD, nullptr, "the field that is counted", GALE_PARAM_INPUT, 0, 0, nullptr, nullptr, "word"),
    GALE_PARAM_MORE("most", GALE_PARAM_WHOLE, "10", "how many rows it tells, of those with the highest counts", 0, 1, 1000000,
                    nullptr, "rows", nullptr),
};

const gale_class classes[] = {
    GALE_BOLT_CLASS("tally.bolt.Tally", "tells what there was most of, when all has been read", params, "what, count", make),
};

const gale_plugin plugin =
    GALE_PLUGIN_INIT("tally", "1.0", "tally.", "Apache-2.0", "counts in C++", classes);

} // namespace

GALE_PLUGIN_ENTRY { return &plugin; }
