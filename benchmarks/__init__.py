"""Benchmarks of mercer and its peers, measured side by side in one run.

Run ``python -m benchmarks svc --help`` from the root of the repository. The package is not part
of the wheel. What is measured, and how, is described in ``benchmarks/README.md``.
"""
