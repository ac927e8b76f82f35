"""The files of a skill: read them, run a script, and the limits of reading."""

from skillyard.base.arguments import check_module as _check_module
from skillyard.base.limits import DEFAULT_LIMITS as DEFAULT_LIMITS
from skillyard.base.limits import Limits as Limits
from skillyard.engine.context.scripts import list_scripts as list_scripts
from skillyard.engine.context.scripts import run_script as run_script
from skillyard.engine.resources import list_resources as list_resources
from skillyard.engine.resources import read_resource as read_resource

_check_module(globals())
