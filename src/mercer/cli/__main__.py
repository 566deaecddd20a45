"""Let `python -m mercer.cli` do what `mercer` does."""

from mercer.cli import main

if __name__ == "__main__":
    main()
