"""The error tree of skillyard, and the diagnostics that are reported instead of raised.

::

    SkillyardError
    ├── SkillError                    a skill file or a catalog is wrong
    │   ├── SkillIoError              kind "Io"                  unreadable file
    │   ├── SkillYamlError            kind "Yaml"                frontmatter that is not valid YAML
    │   ├── InvalidFrontmatter        kind "InvalidFrontmatter"  fences missing, content refused
    │   ├── MissingField              kind "MissingField"        a required field is absent or blank
    │   ├── InvalidSkillsRoot         kind "InvalidSkillsRoot"   the root is not a folder
    │   ├── ValidationFailed          kind "Validation"          strict parsing broke a rule
    │   ├── IndexDamaged              kind "IndexError"          an index file is damaged
    │   ├── SkillNotFound             kind "SkillNotFound"       no skill has that name or id
    │   ├── AmbiguousName             kind "AmbiguousName"       several skills share the name
    │   ├── ResourceRefused           kind "ResourceRefused"     a path that may not be read
    │   └── ScriptRefused             kind "ScriptRefused"       a script that may not be run
    ├── EmbedderFailed                an embedder is missing or returned no vectors
    ├── ServiceFailed                 a request to a skillyard service failed
    │   ├── ServiceUnavailable        it cannot be reached or is overloaded: retry
    │   ├── ServiceRefused            it refuses this request: token, address, size
    │   └── BadAnswer                 the response is not one of a skillyard service
    ├── SourceFailed                  a remote source failed
    ├── StoreFailed                   an operation on a catalog store failed
    │   ├── StoreUnavailable          it cannot be reached, is too slow or full: retry
    │   ├── StoreConflict             the publish contradicts itself or an earlier one
    │   ├── StoreSchema               its tables are missing, damaged, too old or too new
    │   ├── NoStandby                 no standby acknowledged a publish that required one
    │   └── StoreRefused              it refuses: credentials, rights, values it cannot store
    ├── InvalidInput (ValueError)     an argument or option of the wrong type or range
    └── UnknownName (LookupError)     no scorer, format, profile … has that name

``kind`` is the name of the error variant in the adk-skill document. Reading many files never raises
for one of them: it returns skills *and* :class:`Diagnostic` records.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from skillyard.base.shapes import details


class Diagnostic(NamedTuple):
    """One finding about one file: the fault, its place, and a hint."""

    code: str
    """Stable identifier of the rule, in lower case with underscores (``yaml_invalid``)."""
    severity: str
    """``error`` (the skill did not load, or the profile refuses it), ``warning`` or ``info``."""
    path: str
    message: str
    hint: str = ""
    line: int | None = None
    """1-based line in the file, None when unknown."""
    column: int | None = None
    found: str = ""
    """The offending text, shortened. It is untrusted: clean it before printing."""

    def to_dict(self) -> dict[str, object]:
        """Return the JSON shape that every command prints."""
        from skillyard.base.shapes.encoder import encode

        members: dict[str, object] = encode(self.document())
        return members

    def document(self) -> "details.DiagnosticDocument":
        """Return the finding as a document shows it."""
        from skillyard.base.shapes import details
        from skillyard.base.shapes.encoder import from_attributes

        return from_attributes(details.DiagnosticDocument, self)


class SkillyardError(Exception):
    """Base class of all errors of skillyard."""

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), dict(self.__dict__), self.args))


class InvalidInput(SkillyardError, ValueError):
    """An argument has the wrong type or lies outside its range. The message names the field.

    ``field`` is the name of the field when a service reported it, else empty.
    """

    def __init__(self, message: str = "", *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class EmbedderFailed(SkillyardError):
    """An embedder is not installed, cannot be reached, or returned an invalid response."""

    def __init__(self, embedder: str, what: str, *, hint: str = "") -> None:
        super().__init__(f"embedder {embedder}: {what}" + (f"; {hint}" if hint else ""))
        self.embedder = embedder
        self.hint = hint


class ServiceFailed(SkillyardError):
    """A request to a skillyard service failed.

    Attributes: ``url`` (the requested URL, without credentials and query), ``what`` (the failure),
    ``status`` (the HTTP status, None without a response), ``code`` (the service's error code, else
    empty), ``hint`` (what to do next) and ``retry_after_s`` (seconds to wait before a retry, None
    when unknown).
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
        status_text = f" ({status})" if status is not None else ""
        super().__init__(f"{url}: {what}{status_text}" + (f"; {hint}" if hint else ""))
        self.url = url
        self.what = what
        self.status = status
        self.code = code
        self.hint = hint
        self.retry_after_s = retry_after_s


class ServiceUnavailable(ServiceFailed):
    """The service cannot be reached, is starting or stopping, or is overloaded."""


class ServiceRefused(ServiceFailed):
    """The service refuses this request. A retry does not help."""


class BadAnswer(ServiceFailed):
    """The response is not from a skillyard service: a page, broken JSON, a redirect."""


class SourceFailed(SkillyardError):
    """A source failed. ``code`` is the kind of failure.

    ``unreachable``, ``timeout``, ``rate_limited``, ``denied``, ``not_found``, ``bad_answer``,
    ``too_large``, ``refused`` (an address or path that is not followed), ``offline``, ``status``
    (any other status).
    """

    def __init__(
        self,
        code: str,
        what: str,
        *,
        hint: str = "",
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(what + (f"; {hint}" if hint else ""))
        self.code = code
        self.what = what
        self.hint = hint
        self.retry_after_s = retry_after_s
        """Seconds until a retry makes sense, if the remote says so."""
        self.status = status
        """The HTTP status, if there was a response."""


class StoreFailed(SkillyardError):
    """An operation on a catalog store failed.

    Attributes: ``store`` (its address, without credentials), ``what`` (the failure), ``hint`` (what
    to do next) and ``committed``. ``committed`` is True when all changes were written, False when
    none were, and None when it is unknown. Publishing the same again is safe. ``more`` are the
    attributes of a subclass.
    """

    def __init__(
        self,
        store: str,
        what: str,
        *,
        hint: str = "",
        committed: bool | None = False,
        **more: object,
    ) -> None:
        super().__init__(f"{store}: {what}" + (f"; {hint}" if hint else ""))
        self.store = store
        self.what = what
        self.hint = hint
        self.committed = committed
        self.__dict__.update(more)


class StoreUnavailable(StoreFailed):
    """The store cannot be reached, is too slow or is full. A retry may succeed."""


class StoreConflict(StoreFailed):
    """A publish contains one skill twice, or expected another version than the stored one."""

    key: tuple[str, str, str, str] | None = None
    """Names the skill as (tenant, namespace, source, place)."""
    expected: int | None = None
    """A version; 0 for a skill that does not exist, None when it is not about versions."""
    found: int | None = None


class StoreSchema(StoreFailed):
    """The store's tables are missing, damaged, or of an older or newer schema version."""

    found: int | None = None
    """The version of the store; None when unknown."""
    known: int | None = None
    """The version of this program."""


class NoStandby(StoreFailed):
    """No standby acknowledged a publish that required one.

    ``committed`` is False when no standby was connected and nothing was published. It is True when
    this server has committed the publish as ``generation``, but no standby has confirmed it.
    """

    generation: int | None = None


class StoreRefused(StoreFailed):
    """The store refuses the operation: credentials, rights, values. A retry does not help."""


class UnknownName(SkillyardError, LookupError):
    """No scorer, profile or format has that name. The message lists the known names."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        self.what = what
        super().__init__(f"unknown {what} {name!r}; known: {', '.join(self.known) or 'none'}")


class SkillError(SkillyardError):
    """A skill file or a catalog is wrong.

    Attributes: ``kind`` (the documented name of the variant), ``path``, ``line``, ``column``,
    ``code`` (the diagnostic code), ``message``, ``hint`` and ``found``.
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


@contextmanager
def io_errors(doing: str, path: str, hint: str = "", code: str = "") -> Iterator[None]:
    """Turn an OSError inside into a SkillIoError that says what cannot be done."""
    try:
        yield
    except OSError as error:
        what = f"cannot {doing}: {error.strerror or str(error) or type(error).__name__}"
        raise SkillIoError(what, path=path, code=code, hint=hint) from None


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
    """Strict parsing found errors. ``diagnostics`` contains all of them."""

    kind = "Validation"

    def __init__(
        self, message: str, *, diagnostics: Sequence[Diagnostic] = (), **where: object
    ) -> None:
        super().__init__(message, **where)  # type: ignore[arg-type]
        self.diagnostics = tuple(diagnostics)


class IndexDamaged(SkillError):
    """An index file failed its checks. The index is a cache and can be rebuilt."""

    kind = "IndexError"


class SkillNotFound(SkillError, LookupError):
    """No skill has that name or id. ``near`` lists names that are close.

    ``unloaded`` says why a file of that name did not load.
    """

    kind = "SkillNotFound"

    def __init__(
        self, name: str, near: Iterable[str] = (), unloaded: Diagnostic | None = None
    ) -> None:
        self.name = name
        self.near = tuple(near)
        self.unloaded = unloaded
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else ""
        if unloaded is not None:
            hint = f"{unloaded.path} did not load: {unloaded.message}"
        super().__init__(f"no skill named {name!r}", hint=hint)


class AmbiguousName(SkillError, LookupError):
    """Several skills share the name. ``paths`` lists them; an id is never ambiguous.

    A service reports ``ids`` and no paths.
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
    """A script that the caller did not allow, or that does not belong to the skill."""

    kind = "ScriptRefused"
