from gradwalk.cli import main

raise SystemExit(main())
