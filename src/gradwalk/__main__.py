"""The command `python -m gradwalk`."""

from gradwalk.cli.main import main

raise SystemExit(main())
