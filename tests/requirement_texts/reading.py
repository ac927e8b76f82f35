"""Reading: parsing, discovery, the catalog, safety and validation."""

TEXT = """
parsing:strict:parity | cases adk_parsing
    A strict file gives the documented fields, or the documented error kind and field.
parsing:strict:same-function | design §4
    For a path below .skills/, parsing by path and strict parsing are the same.
parsing:strict:required | adk-skill §Parsing Strictness
    A strict file without a name or a description is a MissingField naming field and path.
parsing:strict:optional | adk-skill §Parsing Strictness
    Every other field of a strict file is optional and defaults to empty or None.
parsing:strict:fields | adk-skill §Specification Fields
    The documented example file is read field by field.
parsing:strict:no-repair | rulings: strict functions
    A file below .skills/ is never repaired.
parsing:convention:parity | cases adk_parsing
    A convention file gives the documented name, tags and body.
parsing:convention:names | adk-skill §Instruction Convention Files
    Each of the seven convention files is known by its name and gives its own tag.
parsing:convention:frontmatter | adk-skill §Instruction Convention Files
    Valid frontmatter in a convention file is used; otherwise the whole text is the body.
parsing:allowed-tools | rulings: allowed-tools
    allowed-tools is a list or one space-separated string, and is kept as a tuple.
parsing:text-values | rulings: metadata values
    Known fields are text: a version of 1.10 stays 1.10.
parsing:metadata-values | rulings: metadata values
    Values inside metadata are numbers, booleans and null where YAML 1.2 says so.
parsing:bom-crlf | spec/security §2.5
    A byte order mark and CRLF line ends do not keep a skill from loading.
parsing:evaluation-metadata | skill-evaluation §Skill Metadata for Evaluation
    keywords, tags, triggers.files and triggers.keywords are read from frontmatter.
parsing:trigger-phrases | design §4 Identity
    A list under triggers is phrases in every layout; phrases that look like globs are warned of.
errors:kinds | adk-skill §Error Model
    Each error carries the documented word as its kind, and all are SkillErrors.
errors:place | adk-skill §Parsing + Validation
    An error about a file carries the file's path and, where one can be named, the line.
errors:invalid-root | adk-skill §Error Model
    Loading from a root that is a file or does not exist raises InvalidSkillsRoot with the path.
discovery:tree:parity | cases adk_parsing
    A small tree loads to the documented documents.
discovery:skill-files | adk-skill §Discovery
    Markdown files are found below .skills/ recursively, and no other file there.
discovery:instruction-files | adk-skill §Discovery
    Convention files are found below the root recursively.
discovery:soul-root-only | adk-skill §Instruction Convention Files
    SOUL.md counts in the root only.
discovery:heavy-folders | adk-skill §Discovery
    .git, target, node_modules and the like are not entered.
discovery:sorted-unique | adk-skill §Discovery
    Found paths are sorted and each stands once.
discovery:relative-parts | rulings: which files are skills
    Where the project lies does not matter: only the parts of a path below the root count.
discovery:skill-folders | rulings: which files are skills
    Every folder with a SKILL.md is a skill, nested ones too.
discovery:inside-skill | rulings: which files are skills
    A SKILL.md below references, scripts, assets, resources, docs or examples of a skill is none.
discovery:exact-name | spec/adk-and-agentskills §1.2
    A folder's skill is SKILL.md, or skill.md where that is absent, and no other spelling.
discovery:origins | rulings: origin words
    Every skill says its layout: agentskills, runtime, oasis or convention.
discovery:only-given-roots | rulings: scope and trust
    Reading a root reads that root only; the user's folders come with scopes=("user",).
discovery:several-roots | rulings: same name twice
    With several roots the earlier one wins a name, with a warning, and both stay listed.
oasis:registry:parity | cases triggers_selection
    The Oasis registry holds the documented ids and warns where documented.
oasis:example-file | oasis §SKILL.md Format
    The documented example file is read field by field.
oasis:required | oasis §Discovery Rules
    A file that lacks id, name, description, triggers or priority is not in the registry.
oasis:scan | oasis §Discovery Rules
    Only key_skills/*/SKILL.md belongs to the registry, one level deep.
oasis:load-on-selection | oasis §Execution Contract
    A selected skill's file is read again, and its body alone is the instruction.
oasis:graceful | oasis §Safety and Robustness
    A selected skill whose file fails to load gives way to the next one, or to none.
oasis:scripts | oasis §Execution Contract
    The scripts of a skill are listed, each with whether the body mentions it.
oasis:run-script | rulings: execution
    A script runs only by an explicit call that allows it, within limits of time and output.
resources:inside | spec/security §3 Paths
    Only a regular file whose real path is inside the skill's real folder is read.
oasis:duplicate-id | spec/adk-and-agentskills §3
    Of two skills with one id the folder equal to the id wins, with a warning.
catalog:order | adk-skill §Indexing
    A catalog is sorted by name, then path.
catalog:id | adk-skill §Indexing
    The document id is the normalised name, a hyphen and the first 12 digits of the hash.
catalog:hash | adk-skill §Indexing
    The hash of a skill is the SHA-256 of its file's bytes.
catalog:last-modified | adk-skill §Indexing
    last_modified is the file's time of change in whole Unix seconds.
catalog:sequence | design §4
    A catalog has a length, iterates over its skills in order and is also built in code.
catalog:digest | design §1
    Equal files give equal digests, and any changed body another one.
catalog:immutable | design §4 Errors
    Neither a skill nor a catalog can be changed.
catalog:get | design §4
    get takes a name or an id.
catalog:not-found | design §4
    An unknown name raises SkillNotFound with names that are near.
catalog:ambiguous | rulings: same name twice
    A name of two skills raises AmbiguousName with both paths, while an id always works.
catalog:copies | rulings: identical copies
    Files with one name and the same bytes are one skill in several places.
catalog:variants | issue 31
    Nearly equal texts and translations of one name are one candidate, with its variants.
catalog:counts | rulings: identical copies
    Every surface prints the same number of skills for one folder, and says what it leaves out.
catalog:runtime-twin | rulings: same name twice
    .skills/<name>.md is the runtime twin of <name>/SKILL.md and wins the name and the selection.
catalog:find | design §4
    find filters by tag and by origin.
catalog:slug | design §4 Identity
    slug is the Oasis id, else the folder's name, else the name.
catalog:reload | design §4
    reload says what was added, changed and removed, and gives the new catalog.
catalog:bad-file-reported | rulings: Reading
    A bad file costs no other skill and is listed with code, path, line and hint.
security:yaml-features | spec/security §2.2
    Anchors, aliases, tags and merge keys are refused.
security:yaml-duplicates | spec/security §2.2
    A second key of the same name is refused with its line.
security:yaml-depth | spec/security §2.2
    Deeply nested frontmatter is refused without effort.
security:yaml-scalars | spec/security §2.2
    No scalar can make reading fail: impossible dates and endless digits are text.
security:repair | rulings: YAML
    An unquoted colon in a SKILL.md is repaired once, and the repair is reported.
security:size-caps | spec/security §2.4
    A file over 1 MiB or a frontmatter over 16 KiB is refused, and the rest loads.
security:encoding | spec/security §2.5
    Text that is not UTF-8 is refused by name.
security:special-files | spec/security §3 Size and time
    A FIFO in the place of a skill file is never opened.
security:links-out | rulings: links
    A SKILL.md or skill folder that is a link out of the root is not read, and is reported.
security:links-inside | rulings: links
    A linked skill folder whose real path lies in the root is followed.
security:hidden-text | spec/security §6.2
    Control, bidi and invisible characters in name or description refuse a skill; a body keeps them.
security:lengths | spec/security §2.4
    A description over 1,024 characters is warned of, over 4,096 refused.
security:name-paths | spec/security §5
    A name that is a way out of a folder does not load.
security:any-bytes | spec/security §3 Reading
    Any bytes give a skill or a diagnostic, never another exception.
security:nothing-runs | rulings: execution
    Reading, ranking and injecting start no process and import nothing of a skill.
validate:reference:parity | cases spec_validation
    The reference profile gives the reference validator's verdicts.
validate:profiles:diagnostics | design §2
    All three profiles answer with diagnostics that carry code, severity, path and message.
validate:lenient-default | rulings: validation
    The default profile is lenient, and it accepts the fields that our documents define.
validate:extension-fields | rulings: validation
    Fields of our documents are warnings under spec and errors under reference.
validate:unknown-profile | spec/style §4.3
    A wrong profile name is an error that lists the known ones.
validate:author-guidance | rulings: author guidance
    Duplicate triggers, generic patterns and confusable descriptions are found, each with a hint.
validate:descriptions | issue 36 §2
    A description says what and when, in the third person; a file that is named is there.
"""
