"""What is built, and what works after it was installed."""

TEXT = """\
packages:tracked-files | design
  The wheel holds every file below src/skillyard that git tracks, but the C sources; the source
  distribution holds those too.
packages:tag | design
  A wheel is tagged for what it holds: py3-none-any without the kernel, the stable ABI of CPython
  3.11 with it.
"""
