"""Papers: the experiments of the papers as something one can run.

In: a setting of a paper's experiment. Out: the workload that it describes. Next room: `cli`.

    workloads.py    how both papers draw their windows, and the settings that they print
"""
