"""Finds the candidate files below the roots: layouts, ignored folders, links, depth.

The whole tree below a root is walked, within the limits. Candidates are every folder with a
``SKILL.md`` (nested ones too, but not inside ``references/``, ``scripts/`` … of a skill), every
``.md`` file below ``.skills/`` that is not below a skill folder, ``key_skills/*/SKILL.md``, and the
convention files. Heavy folders are skipped. Only the path *below* the root is considered, so the
result does not depend on where a project lies.
"""
