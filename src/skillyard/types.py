"""The types of what functions and fields of skillyard return and take."""

from skillyard.base.arguments import check_module as _check_module
from skillyard.check.validation.config import CheckConfig as CheckConfig
from skillyard.engine.catalog import CatalogDiff as CatalogDiff
from skillyard.engine.catalog.counts import SkillCounts as SkillCounts
from skillyard.engine.context.activation import Activation as Activation
from skillyard.engine.context.coordinator import SkillContext as SkillContext
from skillyard.engine.context.injection import Injection as Injection
from skillyard.engine.ranking.query import SkillFeedback as SkillFeedback
from skillyard.engine.skill import Origin as Origin
from skillyard.engine.skill import Reference as Reference
from skillyard.install.search import SearchResult as SearchResult

_check_module(globals())
