"""Aggregates and the laws they obey.

In: the aggregates of a workload's queries. Out: the partials that a slice has to keep for them, the operators that
put partials together, and the step from a combined partial to an answer. Next room: `techniques`, which combine
partials without repeating themselves.

    partials.py   aggregate -> partials, shared between aggregates; the laws of each partial
    operators.py  combine and remove over arrays of partials, as kernels
    ordering.py   values of any orderable type as integers that sort the same way
    exact.py      sums that must not lose a digit, as columns of small integers
"""
