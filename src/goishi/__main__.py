"""`python -m goishi` is `goishi`."""

from goishi.cli import main

if __name__ == "__main__":
    main()
