"""`python -m gradwalk`."""

from gradwalk.cli import main

raise SystemExit(main())
