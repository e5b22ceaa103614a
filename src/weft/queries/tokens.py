"""Tokens: the words, names, constants and signs that a text is made of, each with its line and column.

    price > 1.5 AND symbol = 'A'   ->   word price | sign > | number 1.5 | word and | word symbol | sign = | string A

sqlglot's tokenizer finds where each begins and ends (comments, quotes, Spark's spellings); what it *means* is read
from the source text here, so that a constant is exactly Spark's: `100L` stays apart from `CAST(100 AS BIGINT)`, and
`'a\\nb'` unescapes as Spark unescapes it. A `Cursor` walks the tokens and says no with a place and a remedy.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from sqlglot.dialects.databricks import Databricks

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries.constants import unescaped

LONGEST = 100_000
"""Characters that one statement or expression may have."""


class _Tokenizer(Databricks.Tokenizer):
    # Without these, WINDOW is a clause and `{# ... #}` is a comment; in Spark SQL neither is so.
    KEYWORDS = {word: kind for word, kind in Databricks.Tokenizer.KEYWORDS.items() if word not in ("WINDOW", "{#")}  # noqa: RUF012
    COMMENTS = ["--", ("/*", "*/")]  # noqa: RUF012


class _Dialect(Databricks):
    Tokenizer = _Tokenizer


@dataclass(frozen=True, slots=True)
class Token:
    """One token. `kind` is word, name (in backquotes), string, number or sign; `start` and `end` cut it from the text.

    `text` is lower case for a word, unescaped for a name and a string, and as written otherwise.
    """

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The tokens of a text."""
    try:
        spans = [(token.token_type.name, token.start, token.end + 1) for token in _Dialect().tokenize(text)]
    except Exception:  # whatever the tokenizer trips over, the text is what has to change
        rule = f"a quote, a backquote or a comment is opened and never closed ({_place(text, opened(text))})"
        raise BadRequest(rule, remedy="Close it, or remove it") from None
    found: list[Token] = []
    behind = 0
    for type_, start, end in (*spans, ("END", len(text), len(text))):
        if start < behind:
            continue  # sqlglot spells `100L` as three tokens over the same characters
        gap = text[behind:start]
        told = comments(gap)
        skipped = functools.reduce(lambda rest, comment: rest.replace(comment, " ", 1), told, gap).strip()
        if skipped or any(comment.startswith("/*+") for comment in told):
            found.append(Token("sign", "/*+" if not skipped else skipped[:1], behind, start))  # not Spark's comments
        behind = end
        if end > start:
            _add(found, found[-1] if found else None, type_, text, start, end)
    return found


_CLOSED = re.compile(
    r"""[^'"`/-]+|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|/\*.*?\*/|-|/(?!\*)""", re.DOTALL
)


def opened(text: str) -> int:
    """Where the first quote or comment begins that is never closed; the text's length if there is none."""
    at = 0
    while closed := _CLOSED.match(text, at):
        at = closed.end()
    return at


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _add(found: list[Token], previous: Token | None, type_: str, text: str, start: int, end: int) -> None:
    raw = text[start:end]
    if type_ == "STRING":
        touching = previous is not None and previous.kind == "string" and previous.end == start
        if touching and previous is not None and text[previous.start] == raw[0]:  # 'it''s'
            found[-1] = Token("string", previous.text + raw[0] + unescaped(raw[1:-1]), previous.start, end)
        else:
            found.append(Token("string", unescaped(raw[1:-1]), start, end))
    elif raw.startswith("`"):
        found.append(Token("name", raw[1:-1].replace("``", "`"), start, end))
    elif type_ == "NUMBER":
        fraction = previous is not None and previous.text == "." and previous.end == start
        if fraction and (len(found) < 2 or (found[-2].kind == "sign" and found[-2].text not in (")", "]"))):
            found[-1] = Token("number", "." + raw, start - 1, end)  # `.5` comes as a dot and a 5
        else:
            found.append(Token("number", raw, start, end))
    elif re.fullmatch(r"\w+(\s+\w+)*", raw):  # GROUP BY comes as one token
        found += [Token("word", m[0].lower(), start + m.start(), start + m.end()) for m in re.finditer(r"\w+", raw)]
    else:
        found.append(Token("sign", "/*+" if raw.startswith("/*+") else raw, start, end))


def comments(gap: str) -> list[str]:
    """The comments in the text between two tokens, with their marks."""
    found, at = [], 0
    while at < len(gap):
        end = at + 1
        if gap.startswith("--", at):
            end = min((place for place in (gap.find("\n", at), gap.find("\r", at)) if place >= 0), default=len(gap))
            found.append(gap[at:end])
        elif gap.startswith("/*", at):
            depth, end = 1, at + 2
            while depth and end < len(gap):  # Spark's comments nest
                step = 1 if gap.startswith("/*", end) else -1 if gap.startswith("*/", end) else 0
                depth, end = depth + step, end + (2 if step else 1)
            found.append(gap[at:end])
        at = end
    return found


@dataclass
class Cursor:
    """A place among the tokens of one text. `clause` is what is being read, for messages."""

    text: str
    tokens: list[Token]
    at: int = 0
    clause: str | None = None
    depth: int = 0
    calls: dict[str, Callable[[Cursor], ex.Expression]] = field(default_factory=dict)

    def ahead(self, steps: int = 0) -> Token | None:
        """The token some steps ahead; None behind the last one."""
        return self.tokens[self.at + steps] if self.at + steps < len(self.tokens) else None

    def sees(self, *texts: str, steps: int = 0) -> bool:
        """Whether the token ahead is one of these words or signs."""
        token = self.ahead(steps)
        return token is not None and token.kind in ("word", "sign") and token.text in texts

    def take(self) -> Token:
        """The token ahead, which is then behind us."""
        token = self.ahead()
        if token is None:
            self.unexpected()
        self.at += 1
        return token

    def accept(self, *texts: str) -> str | None:
        """Step over these words or signs if one of them is ahead, and say which it was."""
        return self.take().text if self.sees(*texts) else None

    def expect(self, text: str) -> Token:
        """Step over this word or sign, or refuse."""
        if not self.sees(text):
            self.unexpected(f"Write {text.upper()} here")
        return self.take()

    def source(self, token: Token) -> str:
        """A token as it was written."""
        return self.text[token.start : token.end]

    def refuse(self, rule: str, remedy: str, token: Token | None = None) -> NoReturn:
        """Say no, at a token or at the one ahead."""
        token = token or self.ahead() or (self.tokens[-1] if self.tokens else None)
        start = token.start if token is not None else 0
        raise BadRequest(f"{rule} ({_place(self.text, start)})", field=self.clause, remedy=remedy)

    def unexpected(self, remedy: str | None = None) -> NoReturn:
        """Say no to whatever is ahead."""
        token = self.ahead()
        if token is None:
            self.refuse("the text ends too early", remedy or "Complete it")
        if token.kind in ("word", "sign") and token.text in UNSUPPORTED:
            self.refuse(*UNSUPPORTED[token.text])
        shown = self.source(token)[:40]
        if set(shown) & set("‘’“”"):
            self.refuse(f"{shown} is quoted as in a letter", "Use the straight quotes ' and ' around text", token)
        self.refuse(f"did not expect {shown!r} here", remedy or "Leave it out, or put a name into backquotes")


_JOIN = ("Weft reads one stream, a join is not supported", "Join the streams before they reach Weft")
_SET = ("a set operation is not supported", "Write the SELECTs as separate statements, with a ; between them")
_SUBQUERY = ("a subquery is not supported", "Compute its value beforehand, or write a query of its own")
_ORDER = ("answers have no order", "Leave it out and sort what you read")
_LIMIT = ("a stream's answers cannot be limited", "Leave it out")
_DISTINCT = ("DISTINCT is not supported", "Leave DISTINCT out, or remove duplicates from the stream beforehand")
_SHARED = ("grouping sets are not supported", "Write one query for each set of keys")
_SAMPLE = ("changing the stream inside a query is not supported", "Change the stream before it reaches Weft")
_PLACEHOLDER = ("placeholders and templates are not supported", "Put the value itself here")
_OPERATOR = ("this operator is not supported", "Use comparisons, AND, OR, NOT, + - * / %, IN, BETWEEN, LIKE, IS NULL")
_WRITE = ("only SELECT can be asked", "Write a SELECT over the stream")
UNSUPPORTED: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("join", "cross", "inner", "left", "right", "full", "outer", "natural", "semi", "anti"), _JOIN),
    **dict.fromkeys(("union", "intersect", "except", "minus"), _SET),
    **dict.fromkeys(("order", "sort", "cluster", "distribute"), _ORDER),
    **dict.fromkeys(("limit", "offset", "fetch"), _LIMIT),
    **dict.fromkeys(("rollup", "cube", "grouping"), _SHARED),
    **dict.fromkeys(("lateral", "tablesample", "pivot", "unpivot"), _SAMPLE),
    **dict.fromkeys((":", "?", "@", "$", "{", "}"), _PLACEHOLDER),
    **dict.fromkeys(("||", "&", "|", "^", "~", "&&", "->", "#", "<<", ">>", "::"), _OPERATOR),
    **dict.fromkeys(("rlike", "ilike", "regexp", "div"), _OPERATOR),
    **dict.fromkeys(("insert", "update", "delete", "drop", "create", "alter", "merge", "truncate", "set"), _WRITE),
    "select": _SUBQUERY,
    "exists": _SUBQUERY,
    "with": ("WITH is not supported", "Write the SELECT over the stream itself"),
    "distinct": _DISTINCT,
    "all": ("ALL is not supported", "Leave it out"),
    "filter": ("FILTER is not supported", "Aggregate a CASE: sum(CASE WHEN condition THEN value END)"),
    "over": ("OVER is not supported", "Leave it out: Weft's own window says which rows count"),
    "within": ("WITHIN GROUP is not supported", "Use an aggregate without an order"),
    "ignore": ("IGNORE NULLS is not supported", "Leave it out: aggregates skip NULL anyway"),
    "respect": ("RESPECT NULLS is not supported", "Leave it out: aggregates skip NULL"),
    "qualify": ("QUALIFY is not supported", "Use HAVING"),
    "interval": ("intervals are only read as the sizes of a window", "Compare timestamps with constants"),
    "collate": ("COLLATE is not supported", "Use lower() on both sides"),
    "at": ("AT TIME ZONE is not supported", "Convert the stream's column beforehand"),
    "[": ("reaching into an array or a map is not supported", "Make the element a column of the stream first"),
    "/*+": ("hints are not supported", "Leave the hint out"),
    "*": ("* stands for rows in count(*) only", "Name the columns"),
    "+": ("a leading plus says nothing", "Leave it out"),
    ";": ("one expression is expected, not several statements", "Remove everything from the ; on"),
}  # fmt: skip
