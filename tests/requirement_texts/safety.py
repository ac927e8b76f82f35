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
safety:add:every-entry | spec/security §3
  A folder is replaced only when every entry of it is what was installed: files of whatever name,
  links and empty folders of the user's are kept.
safety:add:concurrent-edits | spec/security §3
  What is saved into a folder before it is replaced is never lost: the folder comes back, and the
  command says so.
safety:add:completed | spec/security §3
  A run that was stopped between putting the files there and noting them is completed or undone by
  the next.
safety:installed:kills | spec/security §3
  A command on installed skills that is killed at any moment leaves each skill as it was before or
  as it is after, and the next run makes lock file and folders one again.
safety:installed:ownership | spec/security §3
  No command on skills changes or removes what skillyard did not write: the folder that a skill was
  added from, the target of a link, an edited copy, or a folder that only has a skill's name.
safety:installed:pairs | spec/security §3
  Two commands on installed skills that run at once leave the state of one after the other.
safety:lock:pins | spec/security §3
  A lock file pins source, commit and digest: a skill whose folder is gone comes back as it was, and
  anything else is refused.
safety:fetch:counted | spec/security §3
  Every byte of an answer is counted, those that unpack to nothing and those after the end too.
safety:work:bounded | spec/security §3
  What one skill or request makes the engine do is counted in steps; beyond its share it is left
  out or refused by name, and nobody else waits for it.
safety:characters:invisible | spec/security §3
  A character that shows nothing, reorders a line or is a control is refused in frontmatter, and in
  a body reported and written out, whichever character of those that Unicode lists it is.
safety:characters:sequences | spec/security §3
  What people write hides nothing: emoji, the three flags made of tags, joiners where a script needs
  them, and variants of symbols and ideographs.
safety:frame:fence | spec/security §3
  A frame may carry a random fence; no text of a skill that does not know it can close the frame.
"""
