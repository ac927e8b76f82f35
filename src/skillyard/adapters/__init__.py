"""Skills for agent frameworks: one module each, all over the same :class:`AgentSkills`.

``skillyard.adapters.adk``, ``.pydantic_ai``, ``.langchain`` (deepagents too) and
``.openai_agents`` each need their framework, which an extra of the same name installs; importing
one without it is an ImportError that says so. All of them do the same:

* the skill that fits the user's message is put before it, in a frame that says where it is from,
  within a budget; when none fits, the message goes on as it is;
* the model gets four tools: ``list_skills``, ``load_skill``, ``read_skill_file``, ``why_skill``.
  They read; what a skill says in ``allowed-tools`` grants nothing;
* the event loop is never blocked, and a fault of ours never ends a run unless ``strict`` asks
  for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.adapters.agent_skills import AgentSkills, Offer, SkillOptions

__all__ = ["AgentSkills", "Offer", "SkillOptions"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'skillyard.adapters' has no attribute {name!r}")
    from skillyard.adapters import agent_skills

    return getattr(agent_skills, name)
