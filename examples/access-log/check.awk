# The same figures by a script that keeps everything: awk -f check.awk access.log... writes expected-top.json,
# expected-failures.tsv and expected-alerts.txt into the folder. Lines are in the order of their time within two seconds.
function seconds(text,    part, m, y, era, day) {   # "[10/Oct/2026:13:55:36", UTC
    split(substr(text, 2), part, /[\/:]/)
    m = (index("JanFebMarAprMayJunJulAugSepOctNovDec", part[2]) + 2) / 3
    y = part[3] - (m <= 2)
    era = int(y / 400)
    day = int((153 * (m + (m > 2 ? -3 : 9)) + 2) / 5) + part[1] - 1
    day += (y - era * 400) * 365 + int((y - era * 400) / 4) - int((y - era * 400) / 100)
    return ((era * 146097 + day - 719468) * 24 + part[4]) * 3600 + part[5] * 60 + part[6]
}
function best(of, name, end,    n, i, key, pair, place, count, text) {   # the ten largest, of equal ones the lesser
    for (key in of) {
        split(key, pair, SUBSEP)
        if (pair[1] != end || !of[key]) continue
        for (place = n; place && (of[key] > count[place] || (of[key] == count[place] && pair[2] < path[place])); place--) {
            count[place + 1] = count[place]
            path[place + 1] = path[place]
        }
        count[place + 1] = of[key]
        path[place + 1] = pair[2]
        if (n < 10) n++
    }
    for (i = 1; i <= n; i++) text = text (i > 1 ? "," : "") sprintf("[\"%s\",%d]", path[i], count[i])
    return "\"" name "\":[" text "]"
}
{
    time = seconds($4)
    path_of = $7
    sub(/\?.*/, "", path_of)
    status = $9
    ten = time - time % 10 + 10
    minute = time - time % 60 + 60
    tens[ten]++
    counts[ten, path_of]++
    bytes[ten, path_of] += $10
    asked[minute, path_of]++
    if (status >= 500) {
        failed[ten]++
        failures[minute, path_of]++
    }
    if (time > newest) newest = time
}
END {   # what a run that goes on has told: windows that ended two seconds before the newest line
    for (word in tens) {
        end = word + 0
        if (end > newest - 2) continue
        printf "{\"start\":%d,\"end\":%d,%s,%s}\n", end - 10, end, best(counts, "by_count", end), best(bytes, "by_bytes", end) > "expected-top.json"
        if (failed[end] > 0.05 * tens[end])
            printf "%d of %d requests failed in the ten seconds before %d\n", failed[end], tens[end], end > "expected-alerts.txt"
    }
    for (key in failures) {
        split(key, pair, SUBSEP)
        if (pair[1] > newest - 2) continue
        printf "%s\t%d\t%d\t%d\t%d\n", pair[2], pair[1] - 60, pair[1], asked[key], failures[key] > "expected-failures.tsv"
    }
}
