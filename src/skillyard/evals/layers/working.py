"""Settings and cases → the rules and the routers that a run works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skillyard.evals.layers.datasets import Routes
from skillyard.evals.layers.indexed import routed_skills
from skillyard.evals.layers.pair_cases import PairRules
from skillyard.evals.layers.routing import (
    IndexText,
    ModelRouter,
    Router,
    ScorerRouter,
    index_text,
)
from skillyard.evals.layers.session import Session
from skillyard.evals.settings import RunSettings

if TYPE_CHECKING:
    from skillyard.catalog import Catalog
    from skillyard.skill import Skill

__all__ = ["model_routers", "routers_of", "rules_of"]


def rules_of(settings: RunSettings) -> PairRules:
    """Return what is the same for every pair of a run."""
    return PairRules(
        settings.model,
        settings.judge_models,
        settings.seed,
        settings.orders,
        settings.runs,
        settings.max_tokens,
        settings.temperature,
        settings.tie_band,
    )


def routers_of(
    settings: RunSettings, work: Routes, catalog: Catalog, session: Session | None
) -> Mapping[str, Router]:
    """Return the router of each group; L3 has one, under the empty name."""
    if session is not None and settings.asks_models:
        return model_routers(settings, work, catalog, session)
    return {
        group: ScorerRouter(
            catalog,
            settings.router,
            names=members,
            top_k=settings.top_k,
            min_score=settings.min_score,
        )
        for group, members in _indexed(settings, work).items()
    }


def model_routers(
    settings: RunSettings, work: Routes, catalog: Catalog, session: Session
) -> dict[str, ModelRouter]:
    """Return a model that is shown the index of each group, or of the library."""
    skills = routed_skills(catalog)
    return {
        group: ModelRouter(session, settings.model, settings.judge_model, _index(skills, members))
        for group, members in _indexed(settings, work).items()
    }


def _indexed(settings: RunSettings, work: Routes) -> dict[str, Sequence[str] | None]:
    """Return which skills each router is shown: None for all of them."""
    if not work.groups:
        return {"": None}
    whole = settings.index == "library"
    return {group: None if whole else members for group, members in work.groups.items()}


def _index(skills: Sequence[Skill], members: Sequence[str] | None) -> IndexText:
    return index_text([each for each in skills if members is None or each.name in members])
