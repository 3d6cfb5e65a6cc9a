"""Run the command line by `python -m giro`."""

from giro.cli.main import main

if __name__ == "__main__":
    main()
