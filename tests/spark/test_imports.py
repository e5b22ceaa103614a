"""Importing Weft costs next to nothing: neither PySpark nor Numba is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys


def loaded_after(code: str) -> set[str]:
    said = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*(name.partition('.')[0] for name in sys.modules))"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(said.stdout.split())


def test_import_weft_loads_neither_pyspark_nor_numba() -> None:
    assert not loaded_after("import weft") & {"pyspark", "numba", "llvmlite", "pandas"}


def test_reading_and_printing_queries_needs_no_pyspark() -> None:
    code = "import weft\nweft.Workload([weft.Query('q', 'max(x)', weft.Window('10 min', '2 min'))]).to_sql()"
    assert not loaded_after(code) & {"pyspark", "numba"}


def test_planning_needs_no_pyspark() -> None:
    code = "import weft\nweft.optimize(weft.Workload([weft.Query('q', 'max(x)', weft.Window('10 min'))])).to_json()"
    assert "pyspark" not in loaded_after(code)


def test_asking_a_plan_and_weaving_need_no_pyspark() -> None:
    code = """
import weft
high, low = (weft.Query(name, f"{name}(x)", weft.Window("10 min")) for name in ("max", "min"))
workload = weft.Workload([high])
plan = weft.compare(workload).best
print(plan.what_if(add=low), plan.savings(), weft.Weaver.of(plan).add(low), weft.diff(plan, plan))
"""
    assert "pyspark" not in loaded_after(code)


def test_every_public_name_can_be_had() -> None:
    import weft

    assert all(getattr(weft, name) is not None for name in weft.__all__)
    assert set(weft.__all__) <= set(dir(weft))
