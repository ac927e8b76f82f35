"""The errors that skillyard raises, also those about a skill, which stand at the top too."""

from skillyard.base.arguments import check_module as _check_module
from skillyard.base.errors import AmbiguousName as AmbiguousName
from skillyard.base.errors import BadAnswer as BadAnswer
from skillyard.base.errors import EmbedderFailed as EmbedderFailed
from skillyard.base.errors import IndexDamaged as IndexDamaged
from skillyard.base.errors import InvalidFrontmatter as InvalidFrontmatter
from skillyard.base.errors import InvalidInput as InvalidInput
from skillyard.base.errors import InvalidSkillsRoot as InvalidSkillsRoot
from skillyard.base.errors import MissingField as MissingField
from skillyard.base.errors import ResourceRefused as ResourceRefused
from skillyard.base.errors import ScriptRefused as ScriptRefused
from skillyard.base.errors import ServiceFailed as ServiceFailed
from skillyard.base.errors import ServiceRefused as ServiceRefused
from skillyard.base.errors import ServiceUnavailable as ServiceUnavailable
from skillyard.base.errors import SkillError as SkillError
from skillyard.base.errors import SkillIoError as SkillIoError
from skillyard.base.errors import SkillNotFound as SkillNotFound
from skillyard.base.errors import SkillYamlError as SkillYamlError
from skillyard.base.errors import SkillyardError as SkillyardError
from skillyard.base.errors import SourceFailed as SourceFailed
from skillyard.base.errors import UnknownName as UnknownName
from skillyard.base.errors import ValidationFailed as ValidationFailed

_check_module(globals())
