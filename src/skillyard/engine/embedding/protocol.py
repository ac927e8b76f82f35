"""The embedder protocol, the registry of embedders, and vectors as signed bytes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from math import isfinite, sqrt
from typing import Any, NamedTuple, Protocol, runtime_checkable

from skillyard.base.errors import EmbedderFailed, InvalidInput, SkillyardError, UnknownName
from skillyard.base.sums import stable_sum

ENTRY_POINT_GROUP = "skillyard.embedders"
UNIT = 127
"""The norm of a stored vector, whose components are signed bytes."""
MAX_DIMENSIONS = 4_096

_PACKAGES = {"encoder": "skillyard-encoder"}
"""Names that another package of ours adds."""


class EmbedderWeights(NamedTuple):
    """The weight of an embedder's cosine in the points of a skill, 0..1, by kind of request."""

    english: float
    long: float
    """For English requests of more than :data:`LONG_WORDS` words."""
    foreign: float


class EmbedderCalibration(NamedTuple):
    """What an embedder's cosine says about the probability, in log-odds.

    The log-odds of the built-in evidence are replaced by ``bias + log_odds * those + cosine * c +
    ahead * a``, with the cosine ``c`` of the best skill, and by how much it is above the highest
    cosine of another candidate, ``a``. For English requests ``english + english_cosine * c +
    english_ahead * a`` is added. So is, for all, the product of ``features`` and the features of
    the best skill: beside a cosine they say something else than alone; and the product of
    ``background`` and what the embedder's method ``background`` says of the request: a request that
    lies as near to what other skills in the world do is less surely one for this skill. ``margin``
    is for the points of the best skill above the next. ``pairs`` are for the products of each two
    of log-odds, ``c``, ``a``, the highest of the background and these points, squares included:
    (log-odds)², log-odds · ``c``, … in this order. ``larger`` are for the size of a library beyond
    forty skills (half of its logarithm), and for its product with each of these five.
    """

    bias: float
    log_odds: float
    cosine: float
    ahead: float
    english: float
    english_cosine: float
    english_ahead: float
    features: tuple[float, ...] = ()
    """In the order of ``Features`` of ``hybrid``; empty for none."""
    background: tuple[float, ...] = ()
    """For the highest and the mean cosine of the background; empty for none."""
    pairs: tuple[float, ...] = ()
    """Fifteen numbers, or none."""
    margin: float = 0.0
    larger: tuple[float, ...] = ()
    """Six numbers, or none."""


class EmbedderOrder(NamedTuple):
    """What counts once more among the best skills of an English request, in points.

    ``hybrid`` adds ``share * s + cosine * c - names * n`` to each of them: the share ``s`` of the
    request's rarity in terms that the skill contains, the cosine ``c``, and the share ``n`` in
    names that the skill does not contain. They are fitted listwise (``training/order.py``).
    """

    share: float
    names: float
    cosine: float


class EmbedderPassages(NamedTuple):
    """What an embedder reads of the body of a skill."""

    limit: int
    """How many passages it reads, spread over the body."""
    weight: float
    """Of the mean of their vectors, beside the vector of name and description."""


FEATURES = 14
"""Features of the best skill in ``hybrid`` (``Features``)."""
BACKGROUND = 2
"""Numbers that a method ``background`` returns: the highest and the mean cosine."""
PAIRS = 15
"""Products of two of five numbers."""
LARGER = 6
"""The size of a library, and its products with these five."""
LONG_WORDS = 60
"""spec/encoder.md, gate."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Their cosine is the similarity of two texts.

    An embedder may have an attribute ``weights``, three numbers in the order of
    :class:`EmbedderWeights`; without it, its cosine has the weight of ``Fusion.embedder``. With an
    attribute ``calibration``, the first 7 or 21 numbers of :class:`EmbedderCalibration`, or with a
    method ``background`` all 45, its cosine counts in the probability. That method gets a
    request's vector as signed bytes of norm :data:`UNIT`, and returns its highest and its mean
    cosine with whatever the embedder takes for the skills of the world. With an attribute
    ``order``, three numbers in the order of :class:`EmbedderOrder`, it counts where the best skills
    of English requests are ordered once more; without it the cosine of the built-in table does.
    With an attribute ``passages``, two numbers in the order of :class:`EmbedderPassages`, it reads
    the bodies of skills as well. The method ``asides`` gets a request, and returns (start, end,
    probability that it is set aside) of each piece of it. The method ``talk`` gets what
    ``background`` gets, and returns the probability that no work is asked for ("thanks, that
    worked"). An attribute ``threads`` is how many threads it may use for several texts; work in the
    background sets it to 1. An embedder with a true attribute ``is_english`` understands English
    alone: a request or a skill in another language comes to it put into English word by word, and
    what tells the kind of a log or of code stands after the question. With an attribute
    ``multilingual`` too, an embedder whose unit vectors lie in the same space, that one reads such
    texts as they are, and the mean of both counts.
    """

    @property
    def id(self) -> str:
        """Identifies the vectors in the cache: model and version."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        """Return one vector for each text, all of one length above 0.

        ``query`` is True for requests and False for skills, for models that distinguish them. The
        result must be deterministic. Raises EmbedderFailed.
        """
        ...


def embedder_names() -> tuple[str, ...]:
    """Return the names of the embedders of installed packages, sorted."""
    return tuple(sorted(_entry_points()))


def resolve_embedder(embedder: str | Embedder | Any) -> Embedder:
    """Return the embedder of a name (entry point ``skillyard.embedders``), or the object itself.

    Raises UnknownName, InvalidInput, and EmbedderFailed when a dependency is not installed.
    """
    if isinstance(embedder, str):
        load = _entry_points().get(embedder)
        if load is None and embedder in _PACKAGES:
            hint = (
                f"install it with: pip install {_PACKAGES[embedder]}"
                f" (in a checkout: pip install ./{embedder})"
            )
            raise EmbedderFailed(embedder, "not installed", hint=hint)
        if load is None:
            raise UnknownName("embedder", embedder, embedder_names())
        factory = _from_package(embedder, load)
        embedder = factory() if callable(factory) and not isinstance(factory, Embedder) else factory
    if isinstance(embedder, type) or not isinstance(embedder, Embedder):
        raise InvalidInput("an embedder is a name, or an object with an id and a method embed")
    weights_of(embedder, 0.0)  # refused here rather than with the first request
    calibration_of(embedder)
    order_of(embedder)
    passages_of(embedder)
    return embedder


def weights_of(embedder: Embedder, default: float) -> EmbedderWeights:
    """Return the embedder's weights; three times ``default`` when it has none.

    Raises InvalidInput for anything but three numbers from 0 to 1.
    """
    weights = _numbers_of(embedder, "weights", "three numbers from 0 to 1", 3)
    if weights is None:
        return EmbedderWeights(default, default, default)
    return EmbedderWeights(*weights)


def calibration_of(embedder: Embedder) -> EmbedderCalibration | None:
    """Return the embedder's calibration, if any.

    Raises InvalidInput for another count of numbers than :class:`Embedder` says.
    """
    least = len(EmbedderCalibration._fields) - 5
    counts = [least, least + FEATURES]
    if callable(getattr(embedder, "background", None)):
        counts.append(counts[-1] + BACKGROUND + PAIRS + 1 + LARGER)
    what = f"{' or '.join(map(str, counts))} finite numbers"
    numbers = _numbers_of(embedder, "calibration", what, *counts)
    if numbers is None:
        return None
    features, rest = numbers[least : counts[1]], numbers[counts[1] :]
    margin, larger = rest[-LARGER - 1 :][:1] or (0.0,), rest[-LARGER:]
    most = (features, rest[:BACKGROUND], rest[BACKGROUND:][:PAIRS], *margin, larger)
    return EmbedderCalibration._make((*numbers[:least], *most))


def order_of(embedder: Embedder) -> EmbedderOrder | None:
    """Return the embedder's order, if any. Raises InvalidInput for anything but 3 numbers."""
    order = _numbers_of(embedder, "order", "three finite numbers", 3)
    return None if order is None else EmbedderOrder(*order)


def passages_of(embedder: Embedder) -> EmbedderPassages | None:
    """Return what the embedder reads of bodies. Raises InvalidInput for anything but 2 numbers."""
    passages = _numbers_of(embedder, "passages", "two finite numbers", 2)
    return None if passages is None else EmbedderPassages(int(passages[0]), passages[1])


def _numbers_of(embedder: Embedder, name: str, what: str, *counts: int) -> tuple[float, ...] | None:
    """Return the numbers of an attribute. Raises InvalidInput for anything else."""
    numbers = getattr(embedder, name, None)
    is_wrong = numbers is not None and not any(_are_numbers(numbers, count) for count in counts)
    if is_wrong or (numbers and name == "weights" and not all(0 <= each <= 1 for each in numbers)):
        raise InvalidInput(f"embedder {embedder.id}: {name} must be {what}, in a tuple")
    return numbers


def embed_in_one_thread(embedder: Embedder | None) -> None:
    """Let an embedder with an attribute ``threads`` use one, for work in the background.

    The other cores are then left to requests and to other programs. An attribute that means
    something else, or that cannot be set, stays as it is.
    """
    for each in (embedder, getattr(embedder, "multilingual", None)):
        threads = getattr(each, "threads", ())
        if threads is None or (isinstance(threads, int) and threads > 1):
            with suppress(AttributeError, TypeError, ValueError):
                each.threads = 1  # type: ignore[union-attr]


def _are_numbers(values: object, number: int) -> bool:
    return (
        isinstance(values, tuple)
        and len(values) == number
        and all(isinstance(value, int | float) and isfinite(value) for value in values)
    )


def _entry_points() -> dict[str, Callable[[], Any]]:
    from importlib.metadata import entry_points

    return {point.name: point.load for point in entry_points(group=ENTRY_POINT_GROUP)}


def _from_package(name: str, load: Callable[[], Any]) -> Any:
    """Return the embedder of an entry point. Raises EmbedderFailed."""
    try:
        loaded = load()
        if isinstance(loaded, Embedder) and not isinstance(loaded, type):
            return loaded
        return _single(loaded)
    except SkillyardError:
        raise
    except Exception as error:
        raise EmbedderFailed(name, f"{type(error).__name__}: {error}", hint=_REINSTALL) from error


_REINSTALL = "install its package again, with its dependencies"


@cache
def _single(factory: Any) -> Any:
    """Return the one embedder of a factory, since making it may read a model."""
    embedder = factory() if callable(factory) and not isinstance(factory, Embedder) else factory
    return embedder() if isinstance(embedder, type) else embedder


def embed_checked(
    embedder: Embedder, texts: Sequence[str], *, query: bool = False
) -> list[Sequence[float]]:
    """Return the embedder's vectors, after checks of number and length. Raises EmbedderFailed."""
    try:
        vectors = list(embedder.embed(texts, query=query))
    except SkillyardError:
        raise
    except ImportError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # while a native module loads
            raise error.__cause__ from None
        raise EmbedderFailed(embedder.id, str(error), hint=_REINSTALL) from error
    except Exception as error:
        raise EmbedderFailed(embedder.id, f"{type(error).__name__}: {error}") from error
    if len(vectors) != len(texts):
        raise EmbedderFailed(embedder.id, f"{len(vectors)} vectors for {len(texts)} texts")
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1 or not lengths <= set(range(1, MAX_DIMENSIONS + 1)):
        sizes = ", ".join(map(str, sorted(lengths)))
        raise EmbedderFailed(
            embedder.id, f"vectors of {sizes} numbers, not of one length up to {MAX_DIMENSIONS}"
        )
    return vectors


def unit_bytes(vector: Iterable[float]) -> bytes:
    """Return the vector scaled to the norm :data:`UNIT` as signed bytes; empty for a zero vector.

    Raises InvalidInput for anything but finite numbers.
    """
    values = [float(value) for value in vector]
    largest = max(map(abs, values), default=0.0)
    if not isfinite(largest) or not all(map(isfinite, values)):
        raise InvalidInput("a vector contains a value that is not a finite number")
    if not largest:
        return b""
    values = [value / largest for value in values]  # avoids underflow of squares
    scale = UNIT / sqrt(stable_sum([value * value for value in values]))
    return array("b", [max(-127, min(127, round(value * scale))) for value in values]).tobytes()
