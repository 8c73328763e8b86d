"""A runtime inside asyncio's loop: components run on the loop's own thread, between what else it does."""

import asyncio
import math


async def _news(told, pause):
    """Until the runtime's descriptor is readable, or the time is over."""
    if pause == 0:
        await asyncio.sleep(0)
        return
    try:
        await asyncio.wait_for(told.wait(), None if math.isinf(pause) else pause)
    except asyncio.TimeoutError:
        pass


async def _steps(runtime, told, seconds):
    while (pause := runtime.step(seconds)) is not None:
        told.clear()
        await _news(told, pause)


async def run(runtime, *, seconds=0.005):
    """Runs it until it is closed, at most about `seconds` at a time. Whoever cancels this stops the runtime, and is let
    go when it is closed."""
    loop, told, fd = asyncio.get_running_loop(), asyncio.Event(), runtime.fileno()
    loop.add_reader(fd, told.set)
    try:
        await _steps(runtime, told, seconds)
    except asyncio.CancelledError:
        runtime.stop()
        while runtime.step(seconds) is not None:
            pass
        raise
    finally:
        loop.remove_reader(fd)
