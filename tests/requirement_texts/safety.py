"""What is promised of skills that strangers write, of what users wrote, and of a service."""

TEXT = """\
safety:approval:every-entry | spec/security §3
  An approval covers every entry of a skill's folder whatever its name, what links in it lead to
  and the files that it names; it is gone when any one of them changes.
safety:approval:names | spec/security §3
  Nothing of a skill that is not approved as it is now reaches the model, its name included.
safety:approval:isolation | spec/security §3
  A skill that nobody approved changes nothing for the others: no name, no place, no score.
safety:reading:swapped-folder | spec/security §3
  A folder that was exchanged for a link after it was loaded is followed neither for its files nor
  for its instructions, unless the very file that was loaded lies there.
"""
