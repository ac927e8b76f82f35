"""The words that the analyzer treats specially: English stop words and technical terms."""

from __future__ import annotations

_WORDS = """
a able about above actually after again all already also always am an and another any anyone
anything are around as at be because been before being below between both but by can cannot
cant come could did didnt do does doesnt doing done dont down during each either else etc even
ever every few for from further get gets getting give go going gonna got had has have having
he hello help helps her here hers herself hey hi him himself his how however i id if ill im in
into is isnt it its itself ive just kind know let lets like look looking lot make makes making
may maybe me mean means might mine more most much must my myself need needs neither no nor not
now of off ok okay on once one only onto or other our ours out over own per please put quite
rather really same say see seem seems shall she should since so some somehow someone something
still stuff such sure take tell than thank thanks that thats the their theirs them themselves
then there these they thing things this those though through to too toward try trying under
until up upon us use used uses using very via want wanted wants was way we well were what
whatever when where whether which while who whom whose why will wish with within without wont
would yes yet you your yours yourself
"""

ENGLISH = frozenset(_WORDS.split())
"""Words that carry no topic: English function words and the shell of a polite request.

The list is short, because rarity already reduces the weight of common words. It contains the words
that are frequent in requests but *not* in skills, where rarity is misleading.
"""

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
"""Technical terms that ordinary splitting would destroy, and short names of the same thing.

Left: how people write it, in lower case. Right: the one term that stands for it, for skills and
queries alike. Only true synonyms are listed; what is merely related is the semantic table's work.
"""
