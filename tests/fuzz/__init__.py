"""Random programs: data, kernel, machine and settings from one number, and what must hold then.

``python -m tests.fuzz --minutes 10`` runs new ones until the time is over, ``--seed N`` one again.
"""
