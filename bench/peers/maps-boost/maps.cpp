// boost::unordered_flat_map as a peer of `script/bench maps` (../workload.h): the limit. It does not expire.
#include <boost/unordered/unordered_flat_map.hpp>

#include "../workload.h"

#include <functional>
#include <memory>
#include <utility>

static size_t bytes_used;

// Counts what the map takes.
template <typename T> struct counting {
    using value_type = T;
    counting() = default;
    template <typename U> counting(const counting<U> &) {}
    T *allocate(size_t n) {
        bytes_used += n * sizeof(T);
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T *at, size_t n) {
        bytes_used -= n * sizeof(T);
        std::allocator<T>().deallocate(at, n);
    }
    bool operator==(const counting &) const { return true; }
    bool operator!=(const counting &) const { return false; }
};

using flat_map = boost::unordered_flat_map<uint64_t, uint64_t, boost::hash<uint64_t>, std::equal_to<uint64_t>,
                                           counting<std::pair<const uint64_t, uint64_t>>>;

static flat_map &of(void *map) {
    return *static_cast<flat_map *>(map);
}

static void *make() {
    return new flat_map;
}

static void end(void *map) {
    delete &of(map);
}

static void put(void *map, uint64_t key, uint64_t value) {
    of(map).insert_or_assign(key, value);
}

static uint64_t get(void *map, uint64_t key) {
    auto at = of(map).find(key);
    return at == of(map).end() ? 0 : at->second;
}

static uint64_t take(void *map, uint64_t key) {
    auto at = of(map).find(key);
    if (at == of(map).end()) return 0;
    uint64_t value = at->second;
    of(map).erase(at);
    return value;
}

static bool put_if_absent(void *map, uint64_t key, uint64_t value) {
    return of(map).try_emplace(key, value).second;
}

static void rotate(void *) {}

static size_t used(void *) {
    return bytes_used;
}

static constexpr map_kind kind = { "boost", false, false, make, end, put, get, take, put_if_absent, rotate, used };

static void *run_job(void *job) {
    return do_job(&kind, job);
}

int main() {
    return serve(&kind, run_job);
}
