"""Names and paths on their way to C, which ends texts at a NUL."""

import ctypes
import os


def c_text(text):
    """Bytes of a str, or of a path; None stays None."""
    if text is None:
        return None
    data = os.fsencode(text)
    if b"\0" in data:
        raise ValueError(f"{text!r} has a NUL in it")
    return data


def c_texts(texts):
    """An array of them, and how many there are."""
    data = [c_text(text) for text in texts]
    return (ctypes.c_char_p * len(data))(*data), len(data)


def c_number(number, what):
    """One of 64 bits, without a sign: ctypes takes any, and cuts it off."""
    if not 0 <= number < 1 << 64:
        raise OverflowError(f"{what} is a number from 0 to 2**64 - 1, not {number}")
    return number


def c_message(text):
    """What is for people: nothing in it can be refused."""
    return text.encode("utf-8", "replace").replace(b"\0", b" ")
