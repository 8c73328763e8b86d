"""The page of results."""

from sites import squeeze

ENOUGH = 0.95


def counts(verdicts):
    caught = sum(1 for _, _, verdict in verdicts if verdict.caught_by)
    survived = sum(1 for _, _, verdict in verdicts if verdict.is_open())
    return caught, len(verdicts) - caught - survived, survived


def share(verdicts):
    caught, _, survived = counts(verdicts)
    return caught / (caught + survived) if caught + survived else 1.0


def enough(verdicts):
    return share(verdicts) >= ENOUGH


def summary(verdicts):
    caught, equivalent, survived = counts(verdicts)
    return (f"{len(verdicts)} mutations: {caught} caught, {equivalent} equivalent, {survived} survived; "
            f"{100 * share(verdicts):.1f} % of those that change something are caught")


def cell(text, limit=100):
    text = squeeze(text)
    text = text if len(text) <= limit else text[:limit - 3] + "..."
    return "`" + text.replace("|", "\\|") + "`"


def change(site):
    if site.kind == "deleted":
        return f"{cell(site.original)} deleted"
    inside = "" if site.context == site.original else f" in {cell(site.context)}"
    return f"{cell(site.original)} to {cell(site.mutated)}{inside}"


def row(number, site, verdict):
    end = f"{verdict.caught_by} {verdict.how}" if verdict.caught_by else verdict.reason or "**survived**"
    return f"| {number} | {site.file} {site.function} | {change(site)} | {end} |"


def page(verdicts, wanted):
    caught, equivalent, survived = counts(verdicts)
    left = [row(*verdict) for verdict in verdicts if verdict[2].is_open()]
    gone = f" {wanted - len(verdicts)} more of list.tsv are no longer there." if wanted > len(verdicts) else ""
    head = ["| | where | change | caught by, or why it changes nothing |", "| --- | --- | --- | --- |"]
    lines = ["# Mutations", "", f"Written by `script/mutate`.{gone}", "",
             "| caught | equivalent | survived | caught of those that change something |", "| --- | --- | --- | --- |",
             f"| {caught} | {equivalent} | {survived} | {100 * share(verdicts):.1f} % |", ""]
    if left:
        lines += ["## Survived", "", *head, *left, ""]
    return "\n".join(lines + ["## All", "", *head, *(row(*verdict) for verdict in verdicts), ""])
