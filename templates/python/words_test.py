"""The topology of words.py under test: no threads, no files, no waiting."""

import unittest

from gale.testing import Test

import words


class Words(unittest.TestCase):
    def test_words_come_in_small_letters_without_what_is_between_them(self):
        with Test.of_bolt(words.split, {"lines": ["line"]}) as test:
            test.feed("lines", ["The cow's MOON!"])
            test.expect("bolt", [["the"], ["cow"], ["s"], ["moon"]])
            test.expect_acked()

    def test_a_line_without_words_is_acked(self):
        with Test.of_bolt(words.split, {"lines": ["line"]}) as test:
            test.feed("lines", ["12 + 30 = 42"])
            test.expect("bolt", [])
            test.expect_acked()

    def test_each_word_is_counted_once(self):
        with words.topology() as topology, Test(topology) as test:
            test.feed("lines", ["to be or not to be"])
            test.finish()
            test.expect("count", [["be", 2], ["not", 1], ["or", 1], ["to", 2]], order="any")
            test.expect_acked()


if __name__ == "__main__":
    unittest.main()
