"""Google ADK: the documented injector as a plugin, and the tools as a toolset.

::

    app = App(name="agent", root_agent=LlmAgent(..., tools=[SkillyardToolset(skills)]),
              plugins=[build_plugin(skills)])
    runner = Runner(app=app, session_service=...)

As adk-skill specifies, the plugin changes the user's message when it arrives, so the session stores
the block. ADK calls no further plugin once one has changed a message, so put this one last. With
``remember=False`` only the request to the model is changed, and the session is not.

ADK's own ``SkillToolset(registry=SkillyardRegistry(skills))`` finds and loads the same skills.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import ResourceRefused
from skillyard.base.text import shorten
from skillyard.engine.context.injection import USER_ROLE
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Skill
from skillyard.hosts.adapters.agent_skills import AgentSkills, AnySkills
from skillyard.hosts.adapters.blocks import prepend_block, skill_block
from skillyard.hosts.adapters.tools import framework_missing, tool_functions

try:
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.plugins.plugin_manager import PluginManager
    from google.adk.skills import Frontmatter, Resources, SkillRegistry
    from google.adk.skills import Skill as LoadedSkill
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.function_tool import FunctionTool
    from google.genai.types import Content, Part
except ImportError as error:
    raise framework_missing("adk", "google-adk", error) from error

if TYPE_CHECKING:
    from google.adk.agents.readonly_context import ReadonlyContext


class SkillPlugin(BasePlugin):
    """Puts the matching skill before the user's message. Can be shared by any number of runs."""

    def __init__(self, skills: AnySkills, name: str = "skills", *, remember: bool = True) -> None:
        super().__init__(name=name)
        self._skills = AgentSkills.of(skills)
        self._remember = remember

    async def on_user_message_callback(
        self, *, invocation_context: Any, user_message: Content
    ) -> Content | None:
        """Return the message with the block before it, or None to leave it unchanged."""
        if not self._remember or not _words(user_message).strip():
            return None
        events = getattr(getattr(invocation_context, "session", None), "events", ())
        before = [event.content for event in events if event.author == USER_ROLE and event.content]
        contents = [*before, user_message]
        after = await self._skills.put_before_async(contents, _words, _put)
        return None if after[-1] is user_message else after[-1]

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Put the blocks before the user's messages, in this request only."""
        if not self._remember:
            contents = await self._skills.put_before_async(llm_request.contents, _words, _put)
            llm_request.contents = list(contents)


def _is_text(part: Part) -> bool:
    return bool(part.text) and not part.thought


def _words(content: Content) -> str:
    """Return the user's text parts, joined by newlines: the query of the adk-skill document."""
    if content.role not in (USER_ROLE, None):
        return ""
    return "\n".join(part.text or "" for part in content.parts or () if _is_text(part))


def _put(content: Content, block: str) -> list[Content]:
    """Return a copy of a message with the block in its first text."""
    parts = list(content.parts or ())
    first = next(number for number, part in enumerate(parts) if _is_text(part))
    text = prepend_block(block, parts[first].text or "")
    parts[first] = parts[first].model_copy(update={"text": text})
    return [content.model_copy(update={"parts": parts})]


MAX_DESCRIPTION = 1_024
"""Characters of a description that ADK accepts."""


class SkillyardRegistry(SkillRegistry):
    """Finds skills by ranking them, for ADK's own ``SkillToolset``. It only reads."""

    def __init__(self, skills: AnySkills) -> None:
        self._skills = AgentSkills.of(skills)

    async def search_skills(self, *, query: str) -> list[Frontmatter]:
        """Return the skills that fit a request, best first; none for names that ADK refuses."""
        found = await asyncio.to_thread(self._skills.rank, query)
        fronts = [_front(match.skill) for match in found]
        return [front for front in fronts if front is not None]

    async def get_skill(self, *, name: str) -> LoadedSkill:
        """Return a skill with its framed instructions, references and assets, and no scripts.

        Raises SkillNotFound, AmbiguousName, and ValueError for a name that ADK refuses.
        """
        return await asyncio.to_thread(self._load, name)

    def _load(self, name: str) -> LoadedSkill:
        catalog = self._skills.catalog
        skill = catalog.get(name)
        front = _front(skill)
        if front is None:
            raise ValueError(f"ADK accepts no skill of the name {name!r}")
        text = skill_block(catalog, skill, [], self._skills.options.reading_tokens)
        files: dict[str, Any] = {"references": {}, "assets": {}}
        with suppress(ResourceRefused):  # a skill that was built in code has no folder
            for item in list_resources(skill):
                folder, _, path = item.path.partition("/")
                if folder in files:
                    data = read_resource(skill, item.path)
                    with suppress(UnicodeDecodeError):
                        files[folder][path] = data.decode()
        return LoadedSkill(frontmatter=front, instructions=text, resources=Resources(**files))


def _front(skill: Skill) -> Frontmatter | None:
    description = shorten(skill.description, MAX_DESCRIPTION) or skill.name
    try:
        return Frontmatter(name=skill.slug, description=description)
    except ValueError:
        return None


class SkillyardToolset(BaseToolset):
    """The four tools for an agent, as ``skillyard_load_skill`` and so on.

    ADK's own toolset of skills has tools of the same names without the prefix.
    """

    def __init__(
        self, skills: AnySkills, *, tool_name_prefix: str | None = "skillyard", **options: Any
    ) -> None:
        """Take the skills, and ADK's own ``tool_filter`` and ``tool_name_prefix``."""
        super().__init__(tool_name_prefix=tool_name_prefix, **options)
        functions = tool_functions(AgentSkills.of(skills))
        self._tools = [FunctionTool(each.asynchronous) for each in functions]

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools that the filter leaves."""
        return [tool for tool in self._tools if self._is_tool_selected(tool, readonly_context)]


def build_plugin(skills: AnySkills, name: str = "skills", *, remember: bool = True) -> SkillPlugin:
    """Return the plugin of an injector, of skills or of a catalog (``build_plugin``)."""
    return SkillPlugin(skills, name, remember=remember)


def build_plugin_manager(
    skills: AnySkills, name: str = "skills", *, remember: bool = True
) -> PluginManager:
    """Return a plugin manager with that one plugin (``build_plugin_manager``)."""
    return PluginManager(plugins=[build_plugin(skills, name, remember=remember)])
