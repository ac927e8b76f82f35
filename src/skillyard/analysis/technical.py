"""Technical terms that ordinary splitting would destroy, and short names of the same thing.

Left: how people write it, in lower case. Right: the one term that stands for it, for skills and
queries alike. Only true synonyms are listed; what is merely related is the semantic table's work.
"""

from __future__ import annotations

__all__ = ["TECHNICAL"]

TECHNICAL: dict[str, str] = {
    "c++": "c++",
    "cpp": "c++",
    "c#": "c#",
    "csharp": "c#",
    "f#": "f#",
    "fsharp": "f#",
    ".net": "dotnet",
    "dotnet": "dotnet",
    "asp.net": "aspnet",
    "node.js": "nodejs",
    "next.js": "nextjs",
    "nuxt.js": "nuxt",
    "vue.js": "vue",
    "vuejs": "vue",
    "react.js": "react",
    "reactjs": "react",
    "angularjs": "angular",
    "three.js": "threejs",
    "d3.js": "d3",
    "express.js": "express",
    "k8s": "kubernetes",
    "kube": "kubernetes",
    "postgres": "postgresql",
    "psql": "postgresql",
    "pg": "postgresql",
    "mongo": "mongodb",
    "js": "javascript",
    "repo": "repository",
    "repos": "repository",
    "db": "database",
    "dbs": "database",
    "env": "environment",
    "config": "configuration",
    "configs": "configuration",
    "perf": "performance",
    "docs": "documentation",
    "spec": "specification",
    "specs": "specification",
    "app": "application",
    "apps": "application",
    "tf": "terraform",
    "gha": "githubactions",
    "xlsx": "excel",
    "xls": "excel",
    "docx": "word",
    "pptx": "powerpoint",
    "ppt": "powerpoint",
    "a11y": "accessibility",
    "i18n": "internationalization",
    "l10n": "localization",
    "o11y": "observability",
    "e2e": "endtoend",
}
