// The limit of the job `json`: simdjson on demand; requests with a status of 500 and above, counted by path and ten seconds.
#include <simdjson.h>

#include <cstdio>
#include <string>
#include <unordered_map>

using namespace simdjson;

int main(int argc, char **argv) {
    padded_string text;
    ondemand::parser parser;
    ondemand::document_stream documents;
    if (argc != 3 || padded_string::load(argv[1]).get(text)) return 1;
    if (parser.iterate_many(text, 1 << 20).get(documents)) return 1;
    std::unordered_map<std::string, unsigned> counts;
    std::string key;
    for (auto document : documents) {
        double at;
        std::string_view path;
        int64_t status;
        auto o = document.get_object();
        if (o["ts"].get_double().get(at) || o["path"].get_string().get(path) || o["status"].get_int64().get(status)) return 2;
        if (status < 500) continue;
        long begin = static_cast<long>(at) / 10 * 10;
        key.assign(path);
        key += '\t' + std::to_string(begin) + '\t' + std::to_string(begin + 10);
        counts[key]++;
    }
    FILE *out = fopen(argv[2], "w");
    if (!out) return 1;
    for (auto &pair : counts) fprintf(out, "%s\t%u\n", pair.first.c_str(), pair.second);
    return fclose(out) ? 1 : 0;
}
