"""Text for a model, beside what stands at the top: activation, menu, frame and size."""

from skillyard.base.arguments import check_module as _check_module
from skillyard.engine.context.activation import activate as activate
from skillyard.engine.context.activation import random_fence as random_fence
from skillyard.engine.context.budget import estimate_tokens as estimate_tokens
from skillyard.engine.selection import menu_text as menu_text

_check_module(globals())
