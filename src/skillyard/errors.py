"""Every error skillyard raises on purpose, and the diagnostics it reports instead of raising.

::

    SkillyardError
    ├── SkillError                    something about a skill file or a catalog
    │   ├── SkillIoError              kind "Io"                  unreadable file
    │   ├── SkillYamlError            kind "Yaml"                frontmatter that is no good YAML
    │   ├── InvalidFrontmatter        kind "InvalidFrontmatter"  fences missing, content refused
    │   ├── MissingField              kind "MissingField"        a required field is absent or blank
    │   ├── InvalidSkillsRoot         kind "InvalidSkillsRoot"   the root is not a folder
    │   ├── ValidationFailed          kind "Validation"          a rule was broken in strict reading
    │   ├── IndexDamaged              kind "IndexError"          an index file cannot be trusted
    │   ├── SkillNotFound             kind "SkillNotFound"       no skill of that name or id
    │   ├── AmbiguousName             kind "AmbiguousName"       several skills share the name
    │   ├── ResourceRefused           kind "ResourceRefused"     a path that may not be read
    │   └── ScriptRefused             kind "ScriptRefused"       a script that may not be run
    ├── EmbedderFailed                an embedder is not there, or gave no vectors
    ├── ServiceFailed                 a skillyard service did not answer what it was asked
    │   ├── ServiceUnavailable        it cannot be reached, or has too much to do: ask again
    │   ├── ServiceRefused            it will not answer this request: token, address, size
    │   └── BadAnswer                 what came is not what a skillyard service says
    ├── StoreFailed                   a catalog store did not do what it was asked
    │   ├── StoreUnavailable          it is away, too slow or full: ask again
    │   ├── StoreConflict             the publish contradicts itself or what others published
    │   ├── StoreSchema               its tables are missing, damaged, too old or from the future
    │   ├── NoStandby                 no standby acknowledged a publish that asked for one
    │   └── StoreRefused              it will not: credentials, rights, what cannot be kept
    ├── InvalidInput (ValueError)     an argument or option of the wrong type or range
    └── UnknownName (LookupError)     no scorer, format, profile … of that name

``kind`` is the word that the adk-skill document uses for its error variants. Reading many files
never raises for one of them: it returns skills *and* :class:`Diagnostic` records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillyard.shapes import matches as shapes

__all__ = [
    "AmbiguousName",
    "BadAnswer",
    "Diagnostic",
    "EmbedderFailed",
    "IndexDamaged",
    "InvalidFrontmatter",
    "InvalidInput",
    "InvalidSkillsRoot",
    "MissingField",
    "NoStandby",
    "ResourceRefused",
    "ScriptRefused",
    "ServiceFailed",
    "ServiceRefused",
    "ServiceUnavailable",
    "SkillError",
    "SkillIoError",
    "SkillNotFound",
    "SkillYamlError",
    "SkillyardError",
    "StoreConflict",
    "StoreFailed",
    "StoreRefused",
    "StoreSchema",
    "StoreUnavailable",
    "UnknownName",
    "ValidationFailed",
]


class Diagnostic(NamedTuple):
    """One finding about one file: what is wrong, where, and what to do about it."""

    code: str
    """Stable identifier of the rule, lower case with underscores (``yaml_invalid``)."""
    severity: str
    """``error`` (the skill did not load, or the profile refuses it), ``warning`` or ``info``."""
    path: str
    message: str
    hint: str = ""
    line: int | None = None
    """1-based line in the file, where one can be named."""
    column: int | None = None
    found: str = ""
    """The offending text, shortened; untrusted, so clean it before printing."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON shape that every command prints."""
        from skillyard.shapes.encoder import encode

        members: dict[str, object] = encode(self.document())
        return members

    def document(self) -> shapes.Diagnostic:
        """Return the finding as a document shows it."""
        from skillyard.shapes.encoder import from_attributes
        from skillyard.shapes.matches import Diagnostic as Shape

        return from_attributes(Shape, self)


class SkillyardError(Exception):
    """Base of everything skillyard raises on purpose."""

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), dict(self.__dict__), self.args))


class InvalidInput(SkillyardError, ValueError):
    """An argument has the wrong type or lies outside its range; the message names the field.

    ``field`` is its name where a service said it; empty elsewhere.
    """

    def __init__(self, message: str = "", *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class EmbedderFailed(SkillyardError):
    """An embedder is not installed, cannot be reached, or answered with something else."""

    def __init__(self, embedder: str, what: str, *, hint: str = "") -> None:
        super().__init__(f"embedder {embedder}: {what}" + (f"; {hint}" if hint else ""))
        self.embedder = embedder
        self.hint = hint


class ServiceFailed(SkillyardError):
    """A skillyard service did not answer what it was asked.

    Attributes: ``url`` (what was asked, without credentials and query), ``what`` (what happened),
    ``status`` (the HTTP status, None where none came), ``code`` (the service's own word for it,
    else empty), ``hint`` (what to do next) and ``retry_after_s`` (seconds until it makes sense to
    ask again, None where nobody says so).
    """

    def __init__(
        self,
        url: str,
        what: str,
        *,
        status: int | None = None,
        code: str = "",
        hint: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        said = f" ({status})" if status is not None else ""
        super().__init__(f"{url}: {what}{said}" + (f"; {hint}" if hint else ""))
        self.url = url
        self.what = what
        self.status = status
        self.code = code
        self.hint = hint
        self.retry_after_s = retry_after_s


class ServiceUnavailable(ServiceFailed):
    """The service cannot be reached, is starting or stopping, or has too much to do."""


class ServiceRefused(ServiceFailed):
    """The service will not answer this request, however often it is asked."""


class BadAnswer(ServiceFailed):
    """What came is not what a skillyard service says: a page, broken JSON, too much, a redirect."""


class StoreFailed(SkillyardError):
    """A catalog store did not do what it was asked.

    Attributes: ``store`` (its address, without credentials), ``what`` (what happened), ``hint``
    (what to do next) and ``committed``: whether what was to be written stands. False: nothing of
    it does. True: all of it does. None: nobody can say; publishing the same again is safe.
    """

    def __init__(
        self, store: str, what: str, *, hint: str = "", committed: bool | None = False
    ) -> None:
        super().__init__(f"{store}: {what}" + (f"; {hint}" if hint else ""))
        self.store = store
        self.what = what
        self.hint = hint
        self.committed = committed


class StoreUnavailable(StoreFailed):
    """The store cannot be reached, takes too long or has no room; it may do it later."""


class StoreConflict(StoreFailed):
    """A publish says two things of one skill, or expected another version than there is.

    ``key`` names the skill as (tenant, namespace, source, place); ``expected`` and ``found`` are
    versions, 0 for a skill that is not there, None where versions are not the matter.
    """

    def __init__(
        self,
        store: str,
        what: str,
        *,
        hint: str = "",
        key: tuple[str, str, str, str] | None = None,
        expected: int | None = None,
        found: int | None = None,
    ) -> None:
        super().__init__(store, what, hint=hint)
        self.key = key
        self.expected = expected
        self.found = found


class StoreSchema(StoreFailed):
    """The store's tables are missing, damaged, older than this program's, or from its future.

    ``found`` and ``known`` are schema versions, None where there is none to name.
    """

    def __init__(
        self,
        store: str,
        what: str,
        *,
        hint: str = "",
        found: int | None = None,
        known: int | None = None,
    ) -> None:
        super().__init__(store, what, hint=hint)
        self.found = found
        self.known = known


class NoStandby(StoreFailed):
    """No standby acknowledged a publish that asked for one.

    ``committed`` is False when there was none to ask, and nothing was published; True when the
    publish stands on this server, as ``generation``, and no standby is known to have it.
    """

    def __init__(
        self,
        store: str,
        what: str,
        *,
        hint: str = "",
        committed: bool | None = False,
        generation: int | None = None,
    ) -> None:
        super().__init__(store, what, hint=hint, committed=committed)
        self.generation = generation


class StoreRefused(StoreFailed):
    """The store will not do this, however often it is asked: credentials, rights, values."""


class UnknownName(SkillyardError, LookupError):
    """No scorer, profile or format has that name; the message lists those that there are."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.what = what
        super().__init__(f"unknown {what} {name!r}; known: {', '.join(self.known) or 'none'}")


class SkillError(SkillyardError):
    """Something about a skill file or a catalog is wrong.

    Attributes: ``kind`` (the documented word), ``path``, ``line``, ``column``, ``code`` (the
    diagnostic code), ``message``, ``hint`` and ``found``.
    """

    kind = "SkillError"

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        line: int | None = None,
        column: int | None = None,
        code: str = "",
        hint: str = "",
        found: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.code = code or self.kind.lower()
        self.hint = hint
        self.found = found

    def __str__(self) -> str:
        where = self.path
        if self.line is not None:
            where += f":{self.line}"
        text = f"{where}: {self.message}" if where else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def diagnostic(self, severity: str = "error") -> Diagnostic:
        """Return this error as a diagnostic of the given severity."""
        return Diagnostic(
            code=self.code,
            severity=severity,
            path=self.path,
            message=self.message,
            hint=self.hint,
            line=self.line,
            column=self.column,
            found=self.found,
        )


def _rebuild(
    cls: type[SkillyardError], state: dict[str, object], args: tuple[object, ...]
) -> SkillyardError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class SkillIoError(SkillError):
    """A file could not be read: missing, no permission, not a regular file, too large."""

    kind = "Io"


class SkillYamlError(SkillError):
    """The frontmatter is not YAML that skillyard accepts (syntax, types, guarded features)."""

    kind = "Yaml"


class InvalidFrontmatter(SkillError):
    """The fences are missing or unclosed, or the content of a field is refused."""

    kind = "InvalidFrontmatter"


class MissingField(SkillError):
    """A required field is absent, blank or null. ``field`` names it."""

    kind = "MissingField"

    def __init__(self, message: str, *, field: str, **where: object) -> None:
        super().__init__(message, **where)  # type: ignore[arg-type]
        self.field = field


class InvalidSkillsRoot(SkillError):
    """The given root does not exist or is not a folder."""

    kind = "InvalidSkillsRoot"


class ValidationFailed(SkillError):
    """Strict reading met error-level findings; ``diagnostics`` holds all of them."""

    kind = "Validation"

    def __init__(
        self, message: str, *, diagnostics: Sequence[Diagnostic] = (), **where: object
    ) -> None:
        super().__init__(message, **where)  # type: ignore[arg-type]
        self.diagnostics = tuple(diagnostics)


class IndexDamaged(SkillError):
    """An index file fails its checks. It is a cache: rebuild it."""

    kind = "IndexError"


class SkillNotFound(SkillError, LookupError):
    """No skill has that name or id. ``near`` lists names that are close."""

    kind = "SkillNotFound"

    def __init__(self, name: str, near: Iterable[str] = ()) -> None:
        self.name = name
        self.near = tuple(near)
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else ""
        super().__init__(f"no skill named {name!r}", hint=hint)


class AmbiguousName(SkillError, LookupError):
    """Several skills share the name. ``paths`` lists them; an id is never ambiguous.

    A service tells ``ids`` and no paths.
    """

    kind = "AmbiguousName"

    def __init__(self, name: str, paths: Iterable[str], ids: Iterable[str] = ()) -> None:
        self.name = name
        self.paths = tuple(paths)
        self.ids = tuple(ids)
        skills = self.paths or self.ids
        super().__init__(
            f"{name!r} names {len(skills)} skills: {', '.join(skills)}",
            hint="use an id: " + ", ".join(self.ids) if self.ids else "rename one of them",
        )


class ResourceRefused(SkillError):
    """A path that is not a regular file inside the skill's own folder."""

    kind = "ResourceRefused"


class ScriptRefused(SkillError):
    """A script that the caller did not allow, or that is not the skill's own."""

    kind = "ScriptRefused"
