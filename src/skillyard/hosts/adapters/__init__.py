"""Skills for agent frameworks: one module each, all over the same :class:`AgentSkills`.

``skillyard.hosts.adapters.adk``, ``.pydantic_ai``, ``.langchain`` (also for deepagents) and
``.openai_agents`` each need their framework. An extra of the same name installs it; without it the
import raises an ImportError that names the extra. All adapters behave alike:

* The skill that fits the user's message is put before it, within a token budget and in a frame that
  names its origin. When none fits, the message is unchanged; a follow-up keeps its skill.
* The model gets four tools: ``list_skills``, ``load_skill``, ``read_skill_file``, ``why_skill``.
  They only read. ``allowed-tools`` of a skill grants nothing.
* The event loop is never blocked. Errors of skillyard do not end a run, unless ``strict`` is set.
"""

from skillyard.hosts.adapters.agent_skills import AgentSkills, Offer, SkillOptions

__all__ = ["AgentSkills", "Offer", "SkillOptions"]
