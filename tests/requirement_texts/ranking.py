"""Ranking: the protocol and the four documented scorers."""

TEXT = """
scorer:names | design §3
    A wrong scorer name is an error that lists the known ones, the documented four among them.
match:fields | design §4
    A match carries skill, score, level, signals, reason and explanation.
explain:score-is-value | design §3
    The score is the value of the explanation.
explain:parts-add-up | design §3
    The parts of an explanation add up to its raw value.
explain:ranking-complete | design §4
    A ranking has no floor and is cut by limit only.
overlap:parity | cases overlap_selection
    The documented skills are selected, in order, with the documented scores.
overlap:permutation | adk-skill §The Reliability Contract
    The order in which skills arrive does not change an overlap selection.
overlap:weights:name | adk-skill §The Scoring Algorithm
    A query token in the name adds 4.0.
overlap:weights:description | adk-skill §The Scoring Algorithm
    A query token in the description adds 2.5.
overlap:weights:tags | adk-skill §The Scoring Algorithm
    A query token in the tags adds 2.0.
overlap:weights:body | adk-skill §The Scoring Algorithm
    A query token in the body adds 1.0.
overlap:occurrences | rulings: overlap tokens
    Each occurrence of a token in the query counts.
overlap:tokens | rulings: overlap tokens
    Tokens are runs of ASCII letters and digits, lower-cased.
overlap:normalisation | adk-skill §The Scoring Algorithm
    The raw score is divided by the root of the number of unique body tokens, at least one.
overlap:bands | adk-skill §Score Significance & Expression
    Levels are trace below 1.0, broad below 2.5, specific below 5.0 and high from 5.0.
overlap:defaults | adk-skill §Selection
    The default policy is top_k 1, min_score 1.0 and no tags.
overlap:ties | adk-skill §Selection
    Equal scores are ordered by name, then path.
overlap:empty-query | spec/adk-and-agentskills §2.4
    A query without tokens selects nothing.
overlap:examples | adk-skill §Quick Start
    The documented examples choose the documented skill with the documented strength.
overlap:steering | adk-skill §Optimizing Selection Score
    Name, description and tags steer a score as documented, and a long body lowers it.
overlap:stable | adk-skill §The Reliability Contract
    The same query gives the same scores, and an id changes only with its file.
triggers:parity | cases triggers_selection
    The documented skill is selected, with the points of the recommended reading.
triggers:permutation | oasis §Skill Selection
    The order in which skills arrive does not change a triggers ranking.
triggers:points | oasis §Skill Selection
    A phrase gives 10 points, a description keyword 1 and the skill's name 20.
triggers:threshold | oasis §Skill Selection
    Ten points are enough and nine are not; then no skill is selected.
triggers:ties | oasis §Skill Selection
    Equal points are decided by higher priority, then by id.
triggers:normalise | oasis §Skill Selection
    Case and punctuation of the request do not matter.
confidence:globs | skill-evaluation §Supported Patterns
    Each documented pattern matches its documented examples.
confidence:glob-rules | spec/confidence §1.2
    Folders, dots, braces, classes, case and separators match as specified.
confidence:glob-linear | rulings: globs
    No pattern can hang or fail a call.
confidence:pattern-weights | skill-evaluation §Pattern Weights
    The five pattern classes have their documented weights.
confidence:pattern-score | rulings: pattern score
    The pattern score is 0.6 mean best weight + 0.4 max(0.6, min(1, 2 matched/files)).
confidence:pattern-api | skill-evaluation §Pattern Matcher
    PatternMatcher answers the documented example with names, confidence and matched patterns.
confidence:sources | skill-evaluation §Match Source Weights
    name, keywords, tags and description weigh 0.40, 0.35, 0.25 and 0.15.
confidence:trigger-keywords | spec/confidence §1.6
    triggers.keywords count as keywords.
confidence:rarity | skill-evaluation §TF-IDF Scoring
    A term that fewer skills have gives a higher score.
confidence:frequency | skill-evaluation §TF-IDF Scoring
    A keyword that the text repeats gives a higher score.
confidence:preprocessing | skill-evaluation §Text Preprocessing
    Case, punctuation, camelCase, kebab-case, stop words, short tokens and suffixes are handled.
confidence:no-prefix | rulings: keyword score
    A word matches by equal stems only, never because one is the beginning of the other.
confidence:keyword-api | skill-evaluation §Keyword Detector
    KeywordDetector answers the documented example with names, confidence and matched keywords.
confidence:combination | skill-evaluation §Scoring Algorithm
    Both signals combine to half of each plus a tenth of the smaller, at most 1.
confidence:single-signal | skill-evaluation §Single-Signal Adjustment
    A lone signal is multiplied by 0.9.
confidence:weights-option | skill-evaluation §Confidence Scorer API
    patternWeight and keywordWeight change the combination.
confidence:levels | skill-evaluation §Confidence Levels
    From 0.7 the level is high, from 0.4 medium, else low.
confidence:activity | skill-evaluation §Activity Boost
    Skills that match recent activity get 1.2 times their confidence, at most 1.
confidence:activity-alone | spec/confidence §1.9
    Recent activity alone surfaces no skill.
confidence:options | skill-evaluation §Parameters
    Threshold 0.3 and limit 10 are the defaults, and both can be changed.
confidence:quick-checks | skill-evaluation §Confidence Scorer API
    hasMatch and getBestMatch answer for a threshold and for the best match.
confidence:full-example | skill-evaluation §Confidence Scorer API
    The documented evaluation combines both signals and the boost.
confidence:records | design §4
    Records turn into dictionaries with the documented camelCase keys.
confidence:camel-options | design §4
    Contexts and options take snake_case or camelCase keys.
confidence:tool-response | skill-evaluation §Response
    evaluate answers results of four documented fields and a message.
confidence:reason | skill-evaluation §Response
    A reason names file patterns, then keywords, joined by a bar.
confidence:no-match | spec/confidence §1.10
    Without a match the message is one sentence and the results are empty.
confidence:details | skill-evaluation §Parameters
    show_details adds the details of the matches to the message.
confidence:empty-context | rulings: empty context
    Nothing to look at gives an empty result in the library.
confidence:ties | spec/confidence §1.9
    Equal confidence is ordered by name.
relevance:parity | cases relevance_ranking
    Every signal gives its documented points.
relevance:sum | skyll §Scoring Formula
    The score is content + references + query match + popularity + curated boost.
relevance:availability | skyll §Content Availability, §References
    Content gives 40 points, and references give 15 when they are asked for.
relevance:match-table | skyll §Query Match
    Each row of the match tables gives its points.
relevance:deep-research | skyll §Query Match
    The documented example gives 21 points and a boost of 5.6.
relevance:highest | skyll §Query Match
    The highest of all applicable matches is taken, not their sum.
relevance:popularity | skyll §Popularity
    Popularity follows the documented formula, and its table within rounding.
relevance:curated | skyll §Curated Registry Boost
    A curated skill gets eight times its query match, by the documented table.
relevance:example-rows | skyll §Example Scores
    The five example rows give 100, 77, 66.6, 55 and 45 within their rounding.
relevance:bodyless-last | skyll §Content Availability
    Skills without content are sorted last and not filtered.
relevance:rationale | skyll §Design Rationale
    A hundred installs and a good match outrank ten thousand installs and a poor one.
relevance:window | skyll §Content Matching
    Only the first 2,000 characters of a body can match.
relevance:limit | design §3
    Ten results are the default, without a floor.
relevance:custom-ranker | skyll §Customizing Ranking
    An object with the documented rank method is accepted where a scorer is.
"""
