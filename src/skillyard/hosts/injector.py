"""An injector: a catalog with settings, for programs that inject into many prompts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from skillyard.base.arguments import check_arguments
from skillyard.engine.catalog import Catalog
from skillyard.engine.context.injection import MAX_INJECTED_CHARS, Injection, Prompt, inject
from skillyard.engine.ranking.protocol import Scorer
from skillyard.engine.ranking.registry import DEFAULT_SCORER, check_scorer
from skillyard.engine.selection import SelectionPolicy
from skillyard.engine.skill import Skill
from skillyard.install.policy.library import load_catalog


@dataclass(frozen=True, slots=True)
class InjectorConfig:
    """The settings of an injector: selection, and size of the block."""

    policy: SelectionPolicy | None = None
    max_injected_chars: int = MAX_INJECTED_CHARS
    scorer: str | Scorer | Any = DEFAULT_SCORER

    def __post_init__(self) -> None:
        check_scorer(self.scorer)


class SkillInjector:
    """Injects skills of a catalog into prompts. Thread-safe."""

    def __init__(
        self, catalog: Catalog | Iterable[Skill], config: InjectorConfig | None = None
    ) -> None:
        self._catalog = catalog if isinstance(catalog, Catalog) else Catalog.from_skills(catalog)
        self._config = config or InjectorConfig()

    @classmethod
    @check_arguments
    def from_root(
        cls, path: str | os.PathLike[str], config: InjectorConfig | None = None
    ) -> SkillInjector:
        """Load the skills below a root. Raises InvalidSkillsRoot."""
        return cls(load_catalog(path), config)

    @property
    def catalog(self) -> Catalog:
        """The catalog that it selects from."""
        return self._catalog

    @property
    def config(self) -> InjectorConfig:
        """Its settings."""
        return self._config

    def reloaded(self) -> SkillInjector:
        """Return an injector over the skills as they are on disk now."""
        return SkillInjector(self._catalog.reload().catalog, self._config)

    @check_arguments
    def apply(self, prompt: Prompt, *, fence: str | None = None) -> Injection:
        """Inject into one prompt; see :func:`inject`."""
        config = self._config
        return inject(
            prompt,
            self._catalog,
            config.policy,
            max_chars=config.max_injected_chars,
            scorer=config.scorer,
            fence=fence,
        )
