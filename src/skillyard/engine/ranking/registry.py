"""The scorers by name, and the bound ones of each catalog.

Built-in scorers load when they are named; installed packages add theirs through the entry-point
group ``skillyard.scorers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from skillyard.base.arguments import OfProject
from skillyard.base.configuration import read_section
from skillyard.base.errors import EmbedderFailed, InvalidInput, UnknownName
from skillyard.engine.skill import Skill

if TYPE_CHECKING:
    from skillyard.engine.ranking.protocol import BoundScorer, Scorer

ENTRY_POINT_GROUP = "skillyard.scorers"

_BUILT_IN = {
    "hybrid": "skillyard.engine.ranking.hybrid:HYBRID",
    "overlap": "skillyard.engine.ranking.overlap:OVERLAP",
    "triggers": "skillyard.engine.ranking.triggers:TRIGGERS",
    "confidence": "skillyard.engine.ranking.confidence.scorer:CONFIDENCE",
    "relevance": "skillyard.engine.ranking.relevance:RELEVANCE",
}
BUILT_IN = tuple(_BUILT_IN)
"""The scorers of this package, in the order in which descriptions name them."""

DEFAULT_SCORER = "hybrid"
"""The scorer of the Python API when the caller names none."""
ENCODED = "hybrid+encoder"
"""The scorer of commands, hook and services where the package skillyard-encoder is installed."""
_ENCODER_PACKAGES = ("skillyard_encoder", "onnxruntime", "sentencepiece", "tokenizers", "numpy")


def known_scorer(name: str) -> str:
    """Return the name of a scorer. Raises InvalidInput for an unknown or not installed one."""
    if name not in _BUILT_IN:
        _check_installed(name)
    return name


@cache
def _check_installed(name: str) -> None:
    try:
        resolve(name)
    except (UnknownName, InvalidInput, EmbedderFailed) as error:
        raise InvalidInput(f"is {name}, which cannot be used: {error}") from None


def _embedder_fault(name: str) -> str:
    """Return what is wrong with the name in the file of a project: requests could be sent away."""
    return "names an embedder, which only your own file may" if "+" in name else ""


class ScorerSection(NamedTuple):
    """The scorer of the command line, the hook and the services."""

    name: Annotated[str, OfProject(_embedder_fault), known_scorer] = ""
    """The default scorer; empty for ``hybrid``. A project names none with an embedder."""
    encoder: bool = True
    """Whether ``hybrid`` has the sentence encoder where that is installed and ``name`` is empty."""


def default_scorer() -> str:
    """Return the scorer that ``skillyard.toml`` names, or else ``hybrid``.

    It has the sentence encoder where that is installed and not left out. Raises SkillIoError,
    naming file and line, for one that is unknown or not installed.
    """
    name, encoder = read_section("scorer", ScorerSection)
    is_there = encoder and all(map(_find_package, _ENCODER_PACKAGES))
    return name or (ENCODED if is_there else DEFAULT_SCORER)


_find_package = cache(find_spec)


def is_built_in(name: str) -> bool:
    """Return True for a scorer of this package without an embedder."""
    return name in _BUILT_IN


def scorer_names() -> tuple[str, ...]:
    """Return the registered names, sorted: the built-in ones and those of installed packages."""
    return tuple(sorted({*_BUILT_IN, *_entry_points()}))


def resolve(scorer: str | Scorer | Any) -> Scorer:
    """Return the scorer of that name, or the scorer (or documented ``Ranker``) itself.

    ``hybrid+NAME`` is ``hybrid`` with the embedder of that name. Raises UnknownName, listing the
    known ones, EmbedderFailed, and InvalidInput for anything else.
    """
    if isinstance(scorer, str):
        target = _BUILT_IN.get(scorer)
        if target is None:
            return _by_name(scorer)
        module, _, attribute = target.partition(":")
        built_in: Scorer = getattr(import_module(module), attribute)
        return built_in
    check_scorer(scorer)
    from skillyard.engine.ranking.protocol import Scorer  # a name needs no look at an object

    if isinstance(scorer, Scorer):
        return scorer
    from skillyard.engine.ranking.ranker import RankerScorer

    return RankerScorer(scorer)


def check_scorer(scorer: object, parameter: str = "scorer") -> None:
    """Raise InvalidInput for a value that cannot be a scorer. Names are not looked up."""
    if isinstance(scorer, str) or callable(getattr(scorer, "rank", None)):
        return
    from skillyard.engine.ranking.protocol import Scorer

    if not isinstance(scorer, Scorer):
        raise InvalidInput(
            f"{parameter} must be a name, a Scorer or an object with rank(), "
            f"not {type(scorer).__name__}",
            field=parameter,
        )


def _by_name(name: str) -> Scorer:
    """Return a scorer of an installed package, or one with an embedder."""
    load = _entry_points().get(name)
    base, plus, embedder = name.partition("+")
    if load is None and plus:
        combine = getattr(resolve(base), "with_embedder", None)
        if combine is None:
            raise InvalidInput(f"scorer {base} takes no embedder: hybrid+{embedder} does")
        combined: Scorer = combine(embedder)
        return combined
    if load is None:
        raise UnknownName("scorer", name, scorer_names())
    loaded = load()
    return resolve(loaded() if isinstance(loaded, type) else loaded)


def _entry_points() -> dict[str, Callable[[], Any]]:
    from importlib.metadata import entry_points  # deferred: slow to import

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}


def bind(
    catalog: Iterable[Skill],
    scorer: Scorer,
    progress: Callable[[int, int], object] | None = None,
) -> BoundScorer:
    """Return the scorer bound to the catalog. The catalog caches it.

    ``progress`` is for ``hybrid`` with an embedder: it is called with the number of different texts
    that have a vector and of all, before the first batch and after each. It may raise, to stop.
    """
    options: dict[str, Any] = {}
    if progress is not None and getattr(scorer, "embedder", None) is not None:
        from skillyard.engine.ranking.hybrid.scorer import Hybrid

        options = {"progress": progress} if isinstance(scorer, Hybrid) else {}
    # The cache belongs to the catalog: a table in this module would keep catalogs alive.
    cached: dict[Any, BoundScorer] | None = getattr(catalog, "bound", None)
    if cached is None:  # a list of skills
        return scorer.bind(catalog, **options)
    try:
        bound = cached.get(scorer)
    except TypeError:  # an unhashable scorer
        return scorer.bind(catalog, **options)
    if bound is None:
        bound = cached[scorer] = scorer.bind(catalog, **options)
    return bound
