"""The command line, and the programs of others that ask us."""

TEXT = """
cli:json | design §5
    --json prints one JSON document with a schema field on standard output.
cli:help | design §5
    Every command and group of commands prints its help with --help and after help, with exit 0.
cli:roots | design §5
    --root may repeat, and a command reads exactly the roots that are named.
cli:list | design §5
    list names every skill found and the diagnostics.
cli:check:exit | design §5
    check answers 1 for an error-level diagnostic and 0 without one.
cli:check:formats | design §5
    check prints text, JSON with counts, SARIF and GitHub annotations.
cli:check:profiles | design §5
    check takes the three profiles.
cli:show | design §5
    show prints one skill with its body.
cli:unknown-skill | issue: Command line
    An unknown skill is an error that names near ones.
cli:rank | design §5
    rank --json carries query, scorer, matches and diagnostics, and each match its fields.
cli:rank:empty | design §5
    rank answers 1 when it finds nothing.
cli:rank:explain | design §5
    --explain adds the explanation to every match.
cli:rank:scorers | design §5
    --scorer takes each of the documented scorers, and a wrong one is wrong use.
cli:default-scorer | rulings: default scorer
    Without --scorer the answer says which scorer gave it.
cli:select | design §5
    select --json carries selected, rejected, considered, abstained and fallback.
cli:select:abstain | design §5
    select answers 1 when it abstains.
cli:select:policy | design §5
    --min-score, --top-k, --tag and --not-tag are the policy.
cli:select:fallback | rulings: fallback
    --fallback selects the tagged skill with exit 0 and "fallback": true.
cli:evaluate | design §5
    evaluate --json is the documented answer with a schema.
cli:evaluate:empty | design §5
    evaluate answers 1 when nothing matches.
cli:evaluate:missing | rulings: empty context
    evaluate without text and files is wrong use and names both.
cli:why | design §5
    why explains one skill for a query.
cli:summary | design §5
    summary prints the tier-1 catalogue in each format.
service:fetch-metadata | issue 17: row 10
    A page of another site makes no route act or fetch; a link opens pages that only read here.
service:connections | issue 17: row 11
    Idle sockets beyond every limit stop no answer, and fill no log.
service:fair-use | issue 17: row 14
    One client cannot take all bodies, sessions or places of a service.
service:described | issue 17: row 16
    What the OpenAPI document allows is answered, and what it forbids is refused, as it says.
mcp:half-characters | issue 17: row 16
    A message with a lone surrogate gets a JSON-RPC error with its id, over stdio and HTTP.
log:cause | issue 16: logs that tell
    Every 5xx, every refusal by a guard and every failed MCP tool is logged with its exception.
log:repeated | issue 17: row 11
    What one cause brings many times is one line of the log with a count, whoever says it.
log:no-secret | issue 16: logs that tell
    No line of the log holds a token or a password.
log:hints | issue 16: logs that tell
    A command, flag, route, file or variable that a hint names exists.
cli:serve-terminal | issue 16: logs that tell
    On a terminal serve prints the address to open and lines for people, elsewhere JSON lines.
cli:inject | design §5
    inject prints the prompt with the block before it, from an argument or a file.
cli:bench-run | design §5
    bench run writes results and confidence of every query, best first, scores above zero.
cli:usage | design §5
    Wrong use and an unreadable root answer 2 and print nothing on standard output.
cli:doctor:reads | issue 16: skillyard doctor
    doctor writes nothing, starts no program and uses no network.
cli:doctor:settings | issue 16: skillyard doctor
    Settings of other programs that cannot be used become findings with file and line.
cli:doctor:remedies | issue 16: skillyard doctor
    Every finding that is not ok has a remedy, and the skillyard commands among them work.
cli:terminal | spec/security §3 Terminal
    No control character of a skill reaches the terminal.
platforms:windows | issue: What people install is what works
    With what Windows has, every command but following a store answers as it does elsewhere.
platforms:posix-names | issue: What people install is what works
    Names that only POSIX systems have are used in one package.
platforms:nodes | issue: What people install is what works
    Following a store is refused on Windows in one sentence, with exit code 2.
client:skyll | skyll 0.1.1, models.py
    refs.skills_sh and refs.github are text, empty where there is no address; refs.raw may be null.
client:mcp-slash | MCP clients configured with either address
    MCP is served at /mcp and at /mcp/, without a redirect.
client:npx-skills | npx skills 1.7.4, WellKnownProvider
    The well-known index gives a skill of one file as skill-md, and a skill of more files as one
    archive of all of them with the digest of its bytes.
client:fastmcp | fastmcp 4.1.2, skills/models.py
    Every entry that the Skills extension lists conforms to agentskills.io in all its fields, and
    the SKILL.md that it names says the same.
"""
