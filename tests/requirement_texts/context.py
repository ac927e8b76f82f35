"""Selection, injection, the coordinator and the summary."""

TEXT = """
selection:record | design §4
    A selection says what was selected, what was rejected and how many were considered.
selection:bounds | issue: what people install is what works
    select, select_prompt_block and inject take min_score and top_k beside the policy, and refuse
    one that the policy has as well.
api:wrong-types | issue: what people install is what works
    A wrong type for a parameter of any public function is InvalidInput naming the parameter.
selection:policy-defaults | design §4
    A policy field left None takes the scorer's default.
selection:tags | adk-skill §Selection
    include_tags keeps skills with any of the tags, exclude_tags drops them, before scoring.
selection:gatekeeper | adk-skill §The "Confidence Gatekeeper"
    A higher min_score discards weaker matches.
selection:menu | adk-skill §Ambiguity Handling (The "Menu" Pattern)
    Matches within 0.5 of the best are offered as a menu.
selection:fallback | rulings: fallback
    With fallback_tag the tagged skill is selected when nothing passes, and the answer says so.
selection:no-fallback | rulings: fallback
    Without fallback_tag nothing is selected, whatever tags skills carry.
selection:hidden | rulings: trigger: true
    A skill with trigger: true is never chosen automatically.
selection:called | rulings: @name
    @name or /name makes a hidden skill a candidate; the others are still ranked.
inject:parity | cases overlap_selection
    The block reaches the message as documented.
inject:format | adk-skill §Injection
    The block is [skill:name], body, [/skill], and the user text follows after a blank line.
inject:user-only | adk-skill §Injection
    Only a message of the role user is changed.
inject:joined-parts | adk-skill §Injection
    The query is the text parts joined by newlines, and no part is duplicated.
inject:top-only | adk-skill §Injection
    Only the top match is injected.
inject:truncated | adk-skill §Injection
    The body is cut to max_injected_chars, 2,000 by default.
inject:forms | design §4
    A prompt is a string, a message or a list of messages, and is not changed in place.
inject:no-match | adk-skill §Injection
    Without a match the prompt comes back as it was.
inject:frame | rulings: injection
    No body can close its frame or open another, at any length it is cut to.
inject:injector | adk-skill §Build A Plugin Manager
    SkillInjector applies its config, and is built from a catalog or a root.
inject:prompt-block | design §4
    prompt_block gives the block of one skill, select_prompt_block that of the best match.
coordinator:parity | cases overlap_selection
    Strategies cascade to the documented context.
coordinator:by-name | adk-skill §Resolution Strategies
    ByName loads that skill, also a hidden one.
coordinator:by-tag | adk-skill §Resolution Strategies
    ByTag loads a skill with that tag.
coordinator:cascade | adk-skill §Resolution Strategies
    The first strategy that succeeds decides.
coordinator:strict | rulings: coordinator
    Strict rejects a skill whose tool is missing and goes on to the next match above the floor.
coordinator:permissive | rulings: coordinator
    Permissive leaves the missing tool out and warns.
coordinator:atomic | adk-skill §The Context Coordinator
    A context carries skill, instruction, tools and score together, or there is none.
coordinator:budget | design §4
    The instruction holds at most max_instruction_chars of the body, 8,000 by default.
coordinator:references | design §4 Identity
    Declared references inside the skill's folder reach the context, and no other file does.
summary:parity | cases triggers_selection
    The summary has the documented lines.
summary:line | oasis §System Summary Build
    A line is "- name (id): description | triggers: a, b, c".
summary:no-bodies | oasis §System Summary Build
    No body stands in a summary.
summary:one-line | spec/adk-and-agentskills §3
    No field of a skill can break its line or forge another.
summary:xml | spec/adk-and-agentskills §1.2
    The xml form is the agentskills catalogue, and every value in it is escaped.
summary:budget | design §5
    A token budget shortens the summary.
summary:left-out | design §3
    Convention documents and hidden skills are not in a summary.
"""
