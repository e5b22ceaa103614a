"""Parse: text into the white list of expressions, and nothing else into anything.

    expression("price > 100 AND symbol IN ('A', 'B')")      measure("sum(price * volume) AS turnover")

The grammar is Spark's for what the white list can hold, with Spark's precedence: `a = b IS NULL` is `(a = b) IS NULL`.
Every token is either understood here or refused with its place; nothing is read and ignored. The reading functions
keep a function's name as written (`stddev`), since Spark names a column after it; `canonical` then settles on one
name for each meaning (`stddev_samp`).
"""

from __future__ import annotations

from weft.errors import BadRequest
from weft.queries import expressions as ex
from weft.queries.constants import moment, number
from weft.queries.functions import KNOWN, OFFER, SYNONYMS, arity, instead
from weft.queries.query import AGGREGATE_SYNONYMS, AGGREGATES, Measure
from weft.queries.tokens import LONGEST, UNSUPPORTED, Cursor, tokens

DEEPEST = 64
"""Levels that an expression may be nested; more would overrun Python's own stack further on."""

_TYPES = {
    "tinyint": "tinyint", "byte": "tinyint", "smallint": "smallint", "short": "smallint", "int": "int",
    "integer": "int", "bigint": "bigint", "long": "bigint", "float": "float", "real": "float", "double": "double",
    "string": "string", "boolean": "boolean", "date": "date", "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz", "decimal": "decimal", "dec": "decimal", "numeric": "decimal",
}  # fmt: skip
_PRECEDENCE = {
    **dict.fromkeys(("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"), 1),
    **dict.fromkeys(("+", "-"), 2),
    **dict.fromkeys(("*", "/", "%"), 3),
}
_SAME = {"==": "=", "!=": "<>"}


def expression(text: str, longest: int = LONGEST) -> ex.Expression:
    """One expression, of at most so many characters.

    >>> ex.to_sql(expression("price > 100 and symbol like 'A%'"))
    "((price > 100) AND (symbol LIKE 'A%'))"
    """
    cursor = over(text, longest)
    raw = read(cursor)
    if cursor.sees("as"):
        cursor.refuse("an expression has no name here", "Leave AS and the name out")
    end(cursor)
    return canonical(raw)


def expressions(text: str) -> tuple[ex.Expression, ...]:
    """Expressions with commas between them, as `symbol, lower(venue)`."""
    cursor = over(text)
    found = [canonical(read(cursor))]
    while cursor.accept(","):
        found.append(canonical(read(cursor)))
    end(cursor)
    return tuple(found)


def measure(text: str) -> Measure:
    """A named expression; without `AS` it is named as Spark would name it.

    >>> measure("std(price)")
    Measure(name='std(price)', expression=Aggregate(function='stddev_samp', argument=Column(path=('price',))))
    """
    cursor = over(text)
    raw = read(cursor)
    name = alias(cursor)
    end(cursor)
    return Measure(ex.label(spelled(raw)) if name is None else name, canonical(raw))


def over(text: str, longest: int = LONGEST) -> Cursor:
    """A cursor at the beginning of a text."""
    if not isinstance(text, str):
        raise BadRequest(f"{text!r} is no text", remedy="Give a string")
    if len(text) > longest:
        raise BadRequest(f"the text is longer than {longest} characters", remedy="Shorten it")
    cursor = Cursor(text, tokens(text))
    if not cursor.tokens:
        raise BadRequest("the text is empty", remedy='Write an expression, as "price > 100"')
    return cursor


def end(cursor: Cursor) -> None:
    """Refuse what is left."""
    if cursor.ahead() is not None:
        cursor.unexpected()


def alias(cursor: Cursor) -> str | None:
    """`AS name`, or a bare name, where one is ahead."""
    if cursor.accept("as"):
        return identifier(cursor)
    token = cursor.ahead()
    if token is None or (token.kind == "word" and (token.text in ex.RESERVED or token.text in UNSUPPORTED)):
        return None
    return identifier(cursor) if token.kind in ("word", "name") else None


def identifier(cursor: Cursor) -> str:
    """A name, in backquotes or not."""
    token = cursor.ahead()
    if token is None or token.kind not in ("word", "name") or not token.text:
        cursor.unexpected("Write a name here, in backquotes if it is an unusual one")
    cursor.at += 1
    return token.text if token.kind == "name" else cursor.source(token)


def spelled(raw: ex.Expression, statement: bool = False) -> ex.Expression:
    """The tree with `window_start` settled: the window's start in a statement that says so, else a column."""

    def change(node: ex.Expression) -> ex.Expression | None:
        if isinstance(node, ex.WindowField) and node.field.startswith("window_") and not statement:
            return ex.Column((node.field,))
        return None

    return ex.rewrite(raw, change)


def canonical(raw: ex.Expression, statement: bool = False) -> ex.Expression:
    """The tree with one name for each meaning."""

    def change(node: ex.Expression) -> ex.Expression | None:
        match node:
            case ex.WindowField("window_start" | "window_end" as field):
                return ex.WindowField(field.removeprefix("window_"))
            case ex.Aggregate("count", ex.Literal("1", "int")):
                return ex.Aggregate("count", None)
            case ex.Aggregate(function, argument) if function in AGGREGATE_SYNONYMS and argument is not None:
                return ex.Aggregate(AGGREGATE_SYNONYMS[function], ex.rewrite(argument, change))
            case ex.Operation(name, arguments) if name in SYNONYMS:
                return ex.Operation(SYNONYMS[name], tuple(ex.rewrite(argument, change) for argument in arguments))
            case _:
                return None

    return ex.rewrite(spelled(raw, statement), change)


def read(cursor: Cursor) -> ex.Expression:
    """One expression, as it is spelled, from where the cursor stands."""
    start = cursor.ahead()
    try:
        level = [tree := _logic(cursor)]
    except RecursionError:  # the caller's own stack was nearly full
        cursor.refuse("the expression is nested too deep", "Split it up", start)
    for _ in range(DEEPEST):
        level = [child for node in level for child in ex.children(node)]
        if not level:
            return tree
    return cursor.refuse(f"the expression is nested deeper than {DEEPEST} levels", "Split it up", start)


def _logic(cursor: Cursor) -> ex.Expression:
    cursor.depth += 1
    if cursor.depth > DEEPEST + 1:
        cursor.refuse(f"the expression is nested deeper than {DEEPEST} levels", "Split it up")
    either: list[ex.Expression] = []
    while True:
        both: list[ex.Expression] = []
        while True:
            negations = 0
            while cursor.accept("not", "!"):
                negations += 1
            condition = _predicate(cursor)
            for _ in range(negations):
                condition = ex.Operation("not", (condition,))
            both.append(condition)
            if not cursor.accept("and"):
                break
        either.append(_balanced("and", both))
        if not cursor.accept("or"):
            break
    cursor.depth -= 1
    return _balanced("or", either)


def _balanced(operator: str, parts: list[ex.Expression]) -> ex.Expression:
    # A chain of AND or OR becomes a balanced tree, as it does in Spark, so a filter may list thousands of cases.
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return ex.Operation(operator, (_balanced(operator, parts[:middle]), _balanced(operator, parts[middle:])))


def _predicate(cursor: Cursor) -> ex.Expression:
    value = _value(cursor)
    if cursor.accept("is"):
        negated = cursor.accept("not") is not None
        if not cursor.accept("null"):
            cursor.unexpected("Only IS NULL and IS NOT NULL are supported; for others write = or <=>")
        return ex.Operation("is not null" if negated else "is null", (value,))
    negated = cursor.sees("not") and cursor.accept("not") is not None
    test = cursor.accept("between", "in", "like")
    if test == "between":
        low = _value(cursor)
        cursor.expect("and")
        arguments = [value, low, _value(cursor)]
    elif test == "in":
        cursor.expect("(")
        if cursor.sees(")"):
            cursor.unexpected("List at least one value")
        arguments = [value, *_arguments(cursor)]
    elif test == "like":
        arguments = [value, _value(cursor)]
        if cursor.accept("escape"):
            token = cursor.take()
            if token.kind != "string" or len(token.text) != 1:
                cursor.refuse("ESCAPE takes one character", "Write it as '!'", token)
            arguments.append(ex.Literal(token.text, "string"))
    elif negated:
        cursor.unexpected("NOT here goes before BETWEEN, IN or LIKE")
    else:
        return value
    found = ex.Operation(test, tuple(arguments))
    return ex.Operation("not", (found,)) if negated else found


def _value(cursor: Cursor, weakest: int = 1) -> ex.Expression:
    left = _unary(cursor)
    while True:
        token = cursor.ahead()
        binding = _PRECEDENCE.get(token.text, 0) if token is not None and token.kind == "sign" else 0
        if token is None or binding < weakest:
            return left
        cursor.at += 1
        right = _value(cursor, binding + 1)
        left = ex.Operation(_SAME.get(token.text, token.text), (left, right))


def _unary(cursor: Cursor) -> ex.Expression:
    minuses = 0
    while cursor.sees("-"):
        following = cursor.ahead(1)
        if following is not None and following.kind == "number":
            break  # a minus right before a number belongs to it, as in Spark
        cursor.at += 1
        minuses += 1
    value = _primary(cursor)
    while cursor.accept("::"):
        value = ex.Cast(value, _type(cursor))
    for _ in range(minuses):
        value = ex.Operation("negate", (value,))
    return value


def _primary(cursor: Cursor) -> ex.Expression:
    token = cursor.take()
    if token.kind == "number" or (token.kind, token.text) == ("sign", "-"):
        text = cursor.source(token) if token.kind == "number" else "-" + cursor.source(cursor.take())
        constant = number(text)
        return constant or cursor.refuse(f"{text[:60]} is no number that Spark holds", "Write another one", token)
    if token.kind == "string":
        return ex.Literal(token.text, "string")
    if (token.kind, token.text) == ("sign", "("):
        inner = _logic(cursor)
        if cursor.sees(","):
            cursor.refuse("a list of values is only read after IN", "Compare them one by one")
        cursor.expect(")")
        return inner
    cursor.at -= 1
    if token.kind == "sign":
        cursor.unexpected()
    return _word(cursor)


def _word(cursor: Cursor) -> ex.Expression:
    token = cursor.take()
    following = cursor.ahead()
    if token.kind == "word":
        quote_follows = following is not None and following.kind == "string"
        if token.text in ("true", "false"):
            return ex.Literal(token.text, "boolean")
        if token.text == "null":
            return ex.Literal(None, "void")
        if token.text == "case":
            return _case(cursor)
        if token.text in ("date", "timestamp", "timestamp_ntz") and quote_follows:
            return _moment(cursor, token.text)
        if token.text == "interval" and following is not None and following.kind in ("number", "string"):
            cursor.at -= 1
            cursor.unexpected()
        if token.text in ex.RESERVED and not token.text.startswith("window"):
            cursor.at -= 1
            if token.text.startswith(("current_", "local", "session_")):
                cursor.refuse(f"{token.text} is not supported", "Use a constant, or backquotes if it is a column")
            cursor.unexpected()
        if cursor.sees("("):
            return _call(cursor)
    elif cursor.sees("("):
        cursor.refuse(f"there is no function `{token.text}`", OFFER, token)
    elif not token.text:
        cursor.refuse("a name is empty", "Write the name between the backquotes", token)
    path = [token.text if token.kind == "name" else cursor.source(token)]
    while cursor.accept("."):
        path.append(identifier(cursor))
        if cursor.sees("("):
            cursor.refuse(f"there is no function {'.'.join(path)}", OFFER, token)
    if token.kind == "word" and token.text == "window":
        field = "window" if len(path) == 1 else path[1].lower()
        if len(path) > 2 or field not in ("window", "start", "end"):
            cursor.refuse(f"the window has no field {'.'.join(path[1:])}", "Use window.start or window.end", token)
        return ex.WindowField(field)
    if token.kind == "word" and token.text in ("window_start", "window_end") and len(path) == 1:
        return ex.WindowField(token.text)
    return ex.Column(tuple(path))


def _call(cursor: Cursor) -> ex.Expression:
    token = cursor.tokens[cursor.at - 1]
    name = token.text
    cursor.expect("(")
    if name in cursor.calls:
        return cursor.calls[name](cursor)
    if name == "cast":
        inner = _logic(cursor)
        cursor.expect("as")
        cast = ex.Cast(inner, _type(cursor))
        cursor.expect(")")
        return cast
    if name not in KNOWN:
        _unknown(cursor, name)
    if name == "count" and cursor.accept("*"):
        cursor.expect(")")
        return ex.Aggregate("count", None)
    arguments = _arguments(cursor)
    fewest, most = arity(name)
    if len(arguments) < fewest or (most is not None and len(arguments) > most):
        wanted = "at least 1 argument" if most is None else "1 argument" if most == 1 else "2 arguments"
        cursor.refuse(f"{name} takes {wanted}, got {len(arguments)}", "Mend the arguments", token)
    if name in AGGREGATES or name in AGGREGATE_SYNONYMS:
        return ex.Aggregate(name, arguments[0])
    return ex.Operation(name, tuple(arguments))


def _unknown(cursor: Cursor, name: str) -> None:
    token = cursor.tokens[cursor.at - 2]
    if name == "window":
        cursor.refuse("window() belongs into GROUP BY", "Give the window there, or write window for it", token)
    if name == "session_window":
        cursor.refuse("session windows are not supported", "Use window(ts, '10 minutes', '2 minutes')", token)
    if name in UNSUPPORTED:
        cursor.refuse(*UNSUPPORTED[name], token)
    if name in _TYPES:
        cursor.refuse(f"{name}() is not supported", f"Write CAST(... AS {name.upper()})", token)
    cursor.refuse(f"the function {name} is not supported", instead(name), token)


def _arguments(cursor: Cursor) -> list[ex.Expression]:
    if cursor.accept(")"):
        return []
    arguments = [_logic(cursor)]
    while cursor.accept(","):
        arguments.append(_logic(cursor))
    cursor.expect(")")
    return arguments


def _case(cursor: Cursor) -> ex.Expression:
    subject = None if cursor.sees("when") else _logic(cursor)
    parts: list[ex.Expression] = []
    if not cursor.sees("when"):
        cursor.unexpected("Write CASE WHEN condition THEN value END")
    while cursor.accept("when"):
        condition = _logic(cursor)
        cursor.expect("then")
        parts += [condition if subject is None else ex.Operation("=", (subject, condition)), _logic(cursor)]
    if cursor.accept("else"):
        parts.append(_logic(cursor))
    cursor.expect("end")
    return ex.Operation("case", tuple(parts))


def _type(cursor: Cursor) -> str:
    token = cursor.take()
    type_ = _TYPES.get(token.text) if token.kind == "word" else None
    if type_ is None:
        known = ", ".join(_TYPES)
        cursor.refuse(f"{cursor.source(token)[:40]} is no type to cast to", f"Use one of {known}", token)
    if type_ != "decimal":
        return type_
    sizes = [10, 0]
    if cursor.accept("("):
        given = [cursor.take().text]
        if cursor.accept(","):
            given.append(cursor.take().text)
        cursor.expect(")")
        sizes = [int(size) if size.isdecimal() and len(size) < 3 else -1 for size in (*given, "0")][:2]
    if not (1 <= sizes[0] <= 38 and 0 <= sizes[1] <= sizes[0]):
        cursor.refuse("a decimal has 1 to 38 digits, at most as many behind the point", "Write decimal(10,2)", token)
    return f"decimal({sizes[0]},{sizes[1]})"


def _moment(cursor: Cursor, type_: str) -> ex.Literal:
    token = cursor.take()
    constant = moment(token.text.strip(), type_)
    example = "2025-01-31" if type_ == "date" else "2025-01-31 23:59:59"
    return constant or cursor.refuse(f"'{token.text[:60]}' is no {type_}", f"Write {type_.upper()} '{example}'", token)
