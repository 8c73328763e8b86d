#!/usr/bin/env python3
"""The public headers fit their baseline, and changes of them that would break what was built before do not.

usage: abi_test.py ROOT
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

# What is changed in a copy of the headers: header, text, what stands there instead; and whether it still fits.
CHANGES = [
    ("a field appended", True, "component.h", "    const gale_setting *settings;\n    size_t setting_count;\n} gale_bolt;",
     "    const gale_setting *settings;\n    size_t setting_count;\n    void *more;\n} gale_bolt;"),
    ("a function of a table appended", True, "plugin.h", "gale_input *ret_input);\n} gale_args_ops;",
     "gale_input *ret_input);\n    int (*more)(const gale_args *args);\n} gale_args_ops;"),
    ("an enumerator appended", True, "plugin.h", "    GALE_PARAM_BRACES = 128 ", "    GALE_PARAM_BRACES = 128, GALE_PARAM_MORE_ = 256 "),
    ("a function added", True, "alloc.h", "GALE_END", "GALE_API int gale_more(int a);\nGALE_END"),
    ("a field in the middle", False, "component.h", "    const char *name;\n    int32_t kind;\n", "    const char *name;\n    void *more;\n    int32_t kind;\n"),
    ("a field of another size", False, "plugin.h", "    uint32_t roles;", "    uint64_t roles;"),
    ("a field of another type", False, "plugin.h", "    int64_t min, max; ", "    double min, max; "),
    ("two fields in another order", False, "plugin.h", "    uint32_t abi;   /* GALE_PLUGIN_ABI */\n", ""),
    ("a field that is gone", False, "plugin.h", "    const char *also;    /* another name that files may use, or NULL */\n", ""),
    ("a field of another type, and one appended", False, "component.h",
     "    size_t output_count;\n    const gale_setting *settings;\n    size_t setting_count;\n} gale_bolt;",
     "    int output_count;\n    const gale_setting *settings;\n    size_t setting_count;\n    void *more;\n} gale_bolt;"),
    ("functions of a table in another order", False, "component.h",
     "    int (*ack)(gale_collector *out, gale_handle tuple);\n", ""),
    ("another number of an enumerator", False, "component.h", "    GALE_BOLT_SIMPLE,", "    GALE_BOLT_NONE, GALE_BOLT_SIMPLE,"),
    ("another number of an error", False, "error.h", 'X(AGAIN, -3,', 'X(AGAIN, -33,'),
    ("a function with another parameter", False, "config.h", "gale_config_i64(const gale_config *config, const char *key, int64_t fallback)",
     "gale_config_i64(const gale_config *config, const char *key, int32_t fallback)"),
    ("a function that returns something else", False, "alloc.h", "GALE_API const gale_allocator *gale_allocator_default(void)",
     "GALE_API int gale_allocator_default(void)"),
    ("a function that is gone", False, "base.h", "GALE_API const char *gale_version(void);", ""),
    ("a structure that is handed over as it is, and grows", False, "value.h", "        const struct gale_body *body;\n    } as;\n",
     "        const struct gale_body *body;\n    } as;\n    int more;\n"),
    ("another limit", False, "value.h", "GALE_VALUE_DEPTH = 32", "GALE_VALUE_DEPTH = 16"),
]


def main(root):
    root = pathlib.Path(root).resolve()
    script, wrong = root / "script" / "abi", 0
    fits = subprocess.run([script], capture_output=True, text=True, check=False)
    if fits.returncode != 0:
        print(fits.stdout + fits.stderr)
        return 1
    for name, still_fits, header, text, instead in CHANGES:
        with tempfile.TemporaryDirectory() as folder:
            include = pathlib.Path(folder) / "include"
            shutil.copytree(root / "include", include)
            path = include / "gale" / header
            before = path.read_text()
            assert before.count(text) == 1, f"{header}: {text!r}"
            path.write_text(before.replace(text, instead))
            done = subprocess.run([script, "check", include], capture_output=True, text=True, check=False)
            if (done.returncode == 0) != still_fits:
                wrong += 1
                print(f"{name}: {'should fit' if still_fits else 'should not fit'}, and script/abi says\n{done.stdout}{done.stderr}")
    print(f"the headers fit; {len(CHANGES)} changes of them, {wrong} judged wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
