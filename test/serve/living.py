"""What lives at a run's doors, and at those of its HTTP spouts: at the end of a hostile test nothing does, but the one who asks."""

GAUGES = ("http_connections", "http_requests")


def living(now):
    """Of /now, that was asked for at the owner's socket: everything that is not 0, by its name."""
    found = {"taps": now["taps"]}
    for door in now["doors"]:
        asker = 1 if door["name"] == "control" else 0
        for what in ("connections", "requests"):
            found[f"{door['name']} {what}"] = door[what] - asker
        for what in ("streams", "unread_bytes"):
            found[f"{door['name']} {what}"] = door[what]
    for component in now["components"]:
        for metric in component["metrics"]:
            if metric["name"] in GAUGES:
                found[f"{component['name']} {metric['name']}"] = metric["value"]
    return {what: count for what, count in found.items() if count}


def nobody_left(ask, until):
    """Waits until all are gone. `ask`: /now by the owner's socket; `until(condition, what)` waits."""
    left = {}

    def none():
        left.clear()
        left.update(living(ask()))
        return not left
    try:
        until(none, "the end of all")
    except AssertionError as error:
        raise AssertionError(f"all clients have gone, and there live: {left}") from error
