"""What is built, and what works after it was installed."""

TEXT = """\
packages:tracked-files | design
  The wheel holds every file below src/skillyard that git tracks, but the C sources; the source
  distribution holds those too.
packages:tag | design
  A wheel is tagged for what it holds: py3-none-any without the kernel, the stable ABI of CPython
  3.11 with it.
packages:every-command | design
  Every command works where the wheel is installed with all extras, outside a checkout and with an
  empty home.
packages:every-route | design
  Every route, MCP over both transports, a search over the bundled registry and a node of a store
  answer there.
packages:core-alone | design
  With the core alone every command works, or ends with 2 and names the extra that it needs.
packages:installation-pages | design
  No page names an installation that does not work: while the package is not published, every
  command installs from a checkout.
"""
