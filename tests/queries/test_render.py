"""What is written is read back: expressions, queries and workloads, as SQL and as YAML."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.queries.strategies import expressions, queries
from weft.queries import expressions as ex
from weft.queries import parse, render, sql, yaml_form
from weft.queries.workload import Workload

MANY = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@MANY
@given(expressions)
def test_an_expression_is_read_back_from_its_text(expression):
    assert parse.expression(ex.to_sql(expression)) == expression


@MANY
@given(expressions)
def test_a_measure_without_a_name_is_called_by_its_label(expression):
    assert parse.measure(ex.to_sql(expression)).name == ex.label(expression)


@MANY
@given(queries())
def test_a_query_is_read_back_from_its_sql(query):
    assert sql.queries(render.query_sql(query)) == [query]


@MANY
@given(queries())
def test_a_query_is_read_back_from_its_yaml(query):
    workload = Workload([query])
    assert yaml_form.queries(yaml_form.text(workload)) == [query]


@MANY
@given(st.lists(queries(), max_size=3, min_size=1, unique_by=lambda query: query.id))
def test_a_workload_is_read_back_from_both_texts(several):
    several = [query for query in several if query.source == several[0].source]
    workload = Workload(several)
    assert Workload.from_sql(workload.to_sql()) == workload
    assert Workload.from_yaml(workload.to_yaml()) == workload
