"""Words that carry no topic: English function words and the shell of a polite request.

The list is short, because rarity already reduces the weight of common words. It contains the words
that are frequent in requests but *not* in skills, where rarity is misleading.
"""

from __future__ import annotations

__all__ = ["ENGLISH"]

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
