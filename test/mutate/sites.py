"""Where a C file can be mutated, found in clang's syntax tree: small changes, each of which a compiler accepts and a
test should notice."""

import json
import re
import subprocess
from dataclasses import dataclass

RELATION = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {"+": "-", "-": "+"}
ASSIGNED = {"+=": "-=", "-=": "+="}
STEPPED = {"++": "--", "--": "++"}
KINDS = ("relation", "constant", "deleted", "negated", "logic", "arithmetic", "swapped")
# Not the program: what only checks it, and bugs that are put in for another test.
LEFT_ALONE = {"GX_ASSERT", "GX_CHECK", "GX_CHECK_WHOLE", "GX_MUTANT", "assert", "static_assert", "NULL", "INT64_C",
              "UINT64_C", "offsetof", "__builtin_prefetch", "va_start", "va_end", "va_arg"}
CONDITION = {"IfStmt": 0, "WhileStmt": 0, "ConditionalOperator": 0, "DoStmt": 1, "ForStmt": 2}
CASTS = {"ImplicitCastExpr", "ParenExpr", "ConstantExpr", "CStyleCastExpr"}


@dataclass(frozen=True)
class Site:
    file: str
    function: str
    kind: str
    begin: int  # bytes of the file
    end: int
    original: str
    mutated: str
    context: str  # the expression or statement around it
    gap: tuple = ()  # of two arguments: what lies between them
    occurrence: int = 0  # among those of the function whose text is the same

    @property
    def identity(self):
        """Stays as it is while code moves around the site."""
        return " | ".join((self.file, self.function, self.kind, f"{squeeze(self.original)} => {squeeze(self.mutated)}",
                           squeeze(self.context), str(self.occurrence)))


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def syntax_trees(root, path, flags):
    """The functions of a file (a header is compiled alone), as clang describes them."""
    command = ["clang-14", *flags, "-x", "c", "-fsyntax-only", "-Xclang", "-ast-dump=json", str(root / path)]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    current, lines, begins_in = "", [], ""
    wanted = str(root / path)
    for line in dump.split("\n"):
        if line == "    {":
            lines, begins_in = [], current
        lines.append(line)
        if '"file": ' in line:
            current = json.loads(line.strip().rstrip(",").split(": ", 1)[1])
        if line in ("    }", "    },") and wanted in (current, begins_in):
            node = json.loads("\n".join(lines).rstrip(","))
            if node["kind"] == "FunctionDecl" and any(part["kind"] == "CompoundStmt" for part in node.get("inner", ())):
                place(node, begins_in)
                yield node


def place(node, current):
    """clang names the file of a location only where it changes: writes it to each. Returns the last."""
    if isinstance(node, list):
        for part in node:
            current = place(part, current)
    elif isinstance(node, dict):
        if "offset" in node:
            current = node.setdefault("file", current)
        for part in list(node.values()):
            current = place(part, current)
    return current


class Finder:
    def __init__(self, root, path):
        self.path = path
        self.name = str(root / path)
        self.text = (root / path).read_bytes()
        self.function = ""
        self.found = {}

    def end_of(self, location, last):
        """The byte of this file at which a node begins, or (`last`) ends; where a macro made it, that is the macro's
        own call. None when it is not written here, or is left alone."""
        length = location.get("tokLen", 0)
        if "spellingLoc" in location:
            name = self.macro(location)
            if not name or name in LEFT_ALONE:
                return None
            if not location["expansionLoc"].get("isMacroArgExpansion"):
                location = location["expansionLoc"]
                length = self.call_length(location["offset"], len(name))
            else:
                location = location["spellingLoc"]
                length = location["tokLen"]
        if location.get("file") != self.name:
            return None
        return location["offset"] + (length if last else 0)

    def macro(self, location):
        """The name of the macro whose expansion a location is in, as far as that is written in this file."""
        at = location["expansionLoc"]
        return self.cut(at["offset"], at["offset"] + at["tokLen"]) if at.get("file") == self.name else ""

    def call_length(self, start, name):
        """How long NAME or NAME(...) is."""
        depth = 0
        for at in range(start + name, len(self.text)):
            depth += {b"(": 1, b")": -1}.get(self.text[at:at + 1], 0)
            if depth == 0:
                return at + 1 - start if self.text[at:at + 1] == b")" else name
        return name

    def cut(self, begin, end):
        return self.text[begin:end].decode()

    def span(self, node):
        """Where a node stands: (begin, end), or None when not all of it is written here."""
        ends = node.get("range", {})
        if not ends.get("begin") or not ends.get("end"):
            return None
        begin, end = self.end_of(ends["begin"], False), self.end_of(ends["end"], True)
        return None if begin is None or end is None or end <= begin else (begin, end)

    def written(self, node):
        """Not made by a macro as a whole."""
        ends = [node["range"][which] for which in ("begin", "end")]
        return any("offset" in end or end.get("expansionLoc", {}).get("isMacroArgExpansion") for end in ends)

    def add(self, kind, span, mutated, context, gap=()):
        original = self.cut(*span)
        if squeeze(original) != squeeze(mutated):
            self.found.setdefault((kind, *span, mutated),
                                  Site(self.path, self.function, kind, *span, original, mutated,
                                       self.cut(*(context or span)), gap))

    # --- One kind of change each ---

    def operator(self, node, span):
        """`a OP b` with another OP."""
        table = {**RELATION, **LOGIC, **ARITHMETIC, **ASSIGNED}
        opcode = node["opcode"]
        left, right = (self.span(part) for part in node["inner"])
        if opcode not in table or not left or not right or self.cut(left[1], right[0]).strip() != opcode:
            return
        kind = "relation" if opcode in RELATION else "logic" if opcode in LOGIC else "arithmetic"
        if opcode in ("+", "-") and pointer(node) and table[opcode] == "+" and pointer(node["inner"][1]):
            return  # pointers have no sum
        self.add(kind, span, f"{self.cut(*left)} {table[opcode]} {self.cut(*right)}", span)

    def step(self, node, span):
        sign = STEPPED.get(node["opcode"])
        inner = self.span(node["inner"][0])
        if sign and inner:
            operand = self.cut(*inner)
            self.add("arithmetic", span, operand + sign if node.get("isPostfix") else sign + operand, span)

    def literal(self, node, span, around):
        number = self.cut(*span)
        if number in ("true", "false"):
            self.add("constant", span, "false" if number == "true" else "true", around)
        if not re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*", number):
            return
        for change in ("+ 1", "- 1"):
            if number.rstrip("uUlL") != "0" or change == "+ 1":
                self.add("constant", span, f"({number} {change})", around)

    def condition(self, node):
        span = node and self.span(node)
        if span and node.get("opcode") not in ("==", "!="):  # those are negated as relations
            self.add("negated", span, f"!({self.cut(*span)})", span)

    def swap(self, node):
        arguments = node["inner"][1:]
        for one, two in zip(arguments, arguments[1:]):
            first, second = self.span(one), self.span(two)
            if first and second and self.cut(first[1], second[0]).strip() == "," and alike(one, two):
                whole = self.span(node) or (first[0], second[1])
                mutated = f"{self.cut(*second)}, {self.cut(*first)}"
                self.add("swapped", (first[0], second[1]), mutated, whole, (first[1], second[0]))

    def deletion(self, statement):
        """A call whose result nobody has, or an assignment."""
        span = self.span(statement)
        rest = span and re.match(rb"\s*;", self.text[span[1]:])
        if rest:
            span = (span[0], span[1] + rest.end())
            self.add("deleted", span, ";", span)

    # --- The walk ---

    def walk(self, node, around):
        kind = node.get("kind")
        if not kind or kind == "StaticAssertDecl" or (kind == "VarDecl" and node.get("storageClass") == "static"):
            return
        inner = [part for part in node.get("inner", ()) if part]
        span = self.span(node)
        if kind not in CASTS and kind not in ("CompoundStmt", "IntegerLiteral", "InitListExpr") and span:
            around = span if span[1] - span[0] < 200 else around
        self.look(node, kind, span, inner, around)
        for part in self.entered(node, kind, inner):
            self.walk(part, around)

    def look(self, node, kind, span, inner, around):
        if kind in ("BinaryOperator", "CompoundAssignOperator") and span:
            self.operator(node, span)
        elif kind == "UnaryOperator" and span:
            self.step(node, span)
        elif kind == "IntegerLiteral" and span:
            self.literal(node, span, around)
        elif kind == "CallExpr":
            self.swap(node)
        elif kind in CONDITION and self.written(node):
            self.condition(node["inner"][CONDITION[kind]])
        for statement in statements(node, kind, inner):
            if deletable(statement):
                self.deletion(statement)

    def entered(self, node, kind, inner):
        """The parts of a node in which sites are looked for."""
        if kind == "CaseStmt":
            return inner[1:]
        if kind == "UnaryExprOrTypeTraitExpr":  # sizeof
            return ()
        if kind == "ForStmt":  # a loop that goes backwards is too easily seen
            return [part for at, part in enumerate(node["inner"]) if part and at != 3]
        if kind in ("ImplicitCastExpr", "CStyleCastExpr") and node.get("castKind") == "NullToPointer":
            return ()
        if kind in ("IfStmt", "ConditionalOperator") and self.of_a_mutant(inner[0]):
            return inner[2:]
        return inner

    def of_a_mutant(self, condition):
        begin = condition["range"]["begin"]
        return "expansionLoc" in begin and self.macro(begin) == "GX_MUTANT"


def statements(node, kind, inner):
    """The statements that stand in a node."""
    if kind in ("CompoundStmt",):
        return inner
    if kind == "IfStmt":
        return inner[1:]
    if kind in ("ForStmt", "WhileStmt"):
        return inner[-1:]
    if kind in ("CaseStmt", "DefaultStmt", "LabelStmt"):
        return inner[-1:]
    return ()


def deletable(statement):
    kind = statement["kind"]
    if kind in ("CallExpr", "CompoundAssignOperator", "AtomicExpr"):
        return True
    if kind in ("BinaryOperator", "UnaryOperator"):
        return statement["opcode"] in ("=", "++", "--")
    # gcc's and clang's macros for atomic accesses end in a cast or a parenthesis
    return kind in CASTS and kind != "CStyleCastExpr" and any(deletable(part) for part in statement.get("inner", ()))


def pointer(node):
    return node.get("type", {}).get("qualType", "").endswith("*")


def is_text(node):
    while node["kind"] in CASTS and len(node.get("inner", ())) == 1:
        node = node["inner"][0]
    return node["kind"] == "StringLiteral"


def alike(one, two):
    """Two arguments that may change places without a word from the compiler."""
    if is_text(one) or is_text(two):
        return False  # a format in another place is too easily seen
    types = [part.get("type", {}) for part in (one, two)]
    names = [type_.get("desugaredQualType", type_.get("qualType", "")) for type_ in types]
    number = re.compile(r"(unsigned |signed )?(char|short|int|long|long long)|_Bool|double")
    return names[0] == names[1] or all(number.fullmatch(name) for name in names)


def find(root, path, flags):
    """All sites of a file, in the order in which they stand."""
    finder = Finder(root, path)
    for function in syntax_trees(root, path, flags):
        if function["loc"].get("file", finder.name) != finder.name:
            continue
        finder.function = function["name"]
        for part in function["inner"]:
            if part["kind"] == "CompoundStmt":
                finder.walk(part, None)
    return sorted(finder.found.values(), key=lambda site: (site.begin, -site.end, site.kind, site.mutated))
