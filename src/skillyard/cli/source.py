"""The common inputs of commands: the catalog of the roots, the query, the policy."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural, shorten
from skillyard.cli.console import Console

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillyard.base.errors import Diagnostic
    from skillyard.base.shapes import details as shapes
    from skillyard.engine.catalog import Catalog
    from skillyard.engine.catalog.roots import LibrarySpec
    from skillyard.engine.ranking.match import QueryRequest
    from skillyard.engine.ranking.query import Query

    Diagnostics = tuple[Diagnostic | shapes.DiagnosticDocument, ...]


def load(
    args: Namespace, console: Console, scorer: str = "", library: LibrarySpec | None = None
) -> Catalog:
    """Load a library, that of ``--root`` and ``--scope`` if None, for a scorer if one is named.

    ``hybrid`` answers from the index of the roots, which is updated; a terminal shows how far the
    vectors of an embedder are that are computed for it. Without skills, standard error names the
    searched folders and the next step.
    """
    from skillyard.install.policy.library import library_spec

    library = library or library_spec(args.root, dict.fromkeys(args.scope))
    is_indexed = scorer.partition("+")[0] == "hybrid"
    with console.progress("indexing" if is_indexed else "reading") as step:
        if is_indexed:
            from skillyard.engine.index.indexed_catalog import open_library

            catalog = open_library(library, progress=step)
        else:
            from skillyard.engine.catalog.snapshot import build_catalog

            catalog = build_catalog(library, library.scan(), progress=step)
    part = getattr(catalog, "building", None)
    if part is not None:
        console.note(
            f"another process is still building the index: this answer covers {part.done:,} of "
            f"{part.total:,} files; run it again when that has finished"
        )
    if not len(catalog):
        spec = catalog.spec
        from skillyard.install.policy.decision import REFUSED

        refused = [each for each in catalog.diagnostics if each.code == REFUSED]
        console.note(
            f"a policy refuses {plural(len(refused), 'skill')}: `skillyard policy` names them"
            if refused
            else no_skills(list(catalog.roots), () if spec is None else spec.scopes)
        )
    if "+" in scorer:
        from skillyard.engine.ranking.registry import bind, resolve

        with console.progress("embedding") as step:
            bind(catalog, resolve(scorer), step)
    return catalog


def refuse_library(args: Namespace, why: str) -> None:
    """Raise InvalidInput for an option of a library that the command does not read."""
    given = {"--root": args.root, "--scope": args.scope}
    for flag, value in given.items():
        if value:
            raise InvalidInput(f"{flag} has no effect {why}; leave it out")


def unbound_library_of(
    args: Namespace, folders: Iterable[str] = (), paths: Sequence[str] = ()
) -> LibrarySpec | None:
    """Return what a command looks at that no policy binds; None where only paths are named.

    ``folders`` are roots before those of ``--root``.
    """
    from skillyard.engine.catalog.roots import LibrarySpec

    roots = (*folders, *args.root)
    scopes = tuple(scope for scope in dict.fromkeys(args.scope) if scope != "none")
    if not roots and paths:
        return LibrarySpec((), scopes) if scopes else None
    return LibrarySpec(roots or (".",), scopes)


def no_skills(roots: list[str], scopes: tuple[str, ...]) -> str:
    """Return that nothing is there, and what to do next."""
    folders = ", ".join(dict.fromkeys(map(os.path.abspath, roots)))
    places = [f"below {folders}"] if folders else []
    names = {"user": "the user's", "project": "this project's", "system": "the system's"}
    if scopes:
        places.append(f"in {' and '.join(names[each] for each in scopes)} agent folders")
    where = " and ".join(places)
    more = "" if "user" in scopes else "add --scope user for the user's agent folders; "
    return (
        f"no skills {where}: a skill is a folder with a SKILL.md in it; name the folder that"
        f" holds yours with --root; {more}`skillyard doctor` shows what was found where"
    )


def note_unloaded(diagnostics: Diagnostics, args: Namespace, console: Console) -> None:
    """Print how many files did not load, and the command that lists the reasons, as a note."""
    for note in unloaded(diagnostics, args):
        console.note(note)


def unloaded(diagnostics: Diagnostics, args: Namespace) -> Iterator[str]:
    """Yield how many files did not load, and the command that lists the reasons."""
    paths = {each.path for each in diagnostics if each.severity == "error"}
    if paths and not args.json:
        from shlex import quote

        where = " ".join(
            [*(map(quote, args.root or ["."])), *(f"--scope {scope}" for scope in args.scope)]
        )
        yield (f"{plural(len(paths), 'file')} did not load: skillyard check {where} says why")


def ranking_inputs(
    request: QueryRequest, args: Namespace, console: Console
) -> tuple[Query, str, Catalog]:
    """Return the query of a ranking command with feedback, the scorer, and the catalog for it.

    Raises InvalidInput without any query, and for an option that the scorer does not read. A note
    says where no skill has what ``--files`` is compared with.
    """
    from skillyard.engine.ranking.registry import BUILT_IN, default_scorer
    from skillyard.hosts.decisions import with_feedback

    if not (request.query.strip() or request.files or request.include_tags):
        raise InvalidInput(
            "no request: write it as words after the command, as in "
            '`skillyard select "clean this csv file"`, or give --files'
        )
    scorer = request.scorer or default_scorer()
    base = scorer.partition("+")[0]
    for flag, value, readers in (
        ("--files", request.files, ("hybrid", "confidence")),
        ("--recent", request.recent_activity, ("confidence",)),
        ("--references", request.include_references, ("relevance",)),
    ):
        if value and base in BUILT_IN and base not in readers:
            only = " or ".join(readers)
            raise InvalidInput(f"{flag} counts only with --scorer {only}; {base} ignores it")
    catalog = load(args, console, scorer)
    index = getattr(catalog, "summary", None)  # it has the patterns, so that no skill is read
    if request.files and not (
        index.patterns if index else any(each.triggers.files for each in catalog)
    ):
        console.note("--files finds nothing: no skill has file patterns (triggers: files)")
    return with_feedback(request.as_query()), scorer, catalog


def require_tag(catalog: Catalog, tags: Sequence[str]) -> None:
    """Raise InvalidInput, with the tags that there are, if no skill has one of these."""
    from skillyard.engine.catalog import has_tag

    if tags and len(catalog) and not any(has_tag(skill, tags) for skill in catalog):
        known = sorted({t for each in catalog if each.origin != "convention" for t in each.tags})
        there = shorten(", ".join(known), 300) or "none"
        raise InvalidInput(f"no skill has the tag {' or '.join(tags)} (tags: {there})")


_MAX_TEXT_BYTES = 1 << 24


def read_text(path: str) -> str:
    """Return the text of a file that the user named, ``-`` for standard input, lines ended by LF.

    It may be a pipe, as ``<(command)`` makes one. Raises InvalidInput when it cannot be read, is
    too large or is not UTF-8.
    """
    name = "standard input" if path == "-" else path
    size = _MAX_TEXT_BYTES + 1
    try:
        if path == "-":
            source = getattr(sys.stdin, "buffer", None)
            data = source.read(size) if source is not None else sys.stdin.read(size).encode()
        else:
            with open(path, "rb") as file:
                data = file.read(size)
        if len(data) == size:
            raise InvalidInput(f"{name} is larger than {_MAX_TEXT_BYTES:,} bytes; shorten it")
        text: str = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {error.start}); convert it") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {name}: {error.strerror}; check the path") from None
    except AttributeError:  # standard input is closed
        raise InvalidInput("standard input is closed; give the text as an argument") from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")
