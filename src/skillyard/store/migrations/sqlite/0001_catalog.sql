-- One row for each generation: what was published, withdrawn or rolled back together.
CREATE TABLE generations (
    generation INTEGER PRIMARY KEY,
    stamp TEXT NOT NULL,
    tenant TEXT NOT NULL,
    publisher TEXT NOT NULL,
    action TEXT NOT NULL,
    published_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)),
    added INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL
);

-- What skills say, each content once for each tenant.
CREATE TABLE contents (
    tenant TEXT NOT NULL,
    digest TEXT NOT NULL,
    skill_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    tags TEXT NOT NULL,
    frontmatter TEXT,
    document TEXT NOT NULL,
    body TEXT,
    files TEXT NOT NULL,
    PRIMARY KEY (tenant, digest)
);
CREATE INDEX contents_skill_id ON contents (skill_id);

-- One row for each skill and generation that touched it; no digest: the skill was withdrawn.
-- Rows stay for ever; `superseded` is the generation that brought the next one.
CREATE TABLE versions (
    generation INTEGER NOT NULL REFERENCES generations (generation),
    ordinal INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    source TEXT NOT NULL,
    place TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT,
    around TEXT NOT NULL,
    installs INTEGER NOT NULL,
    commit_id TEXT,
    url TEXT,
    superseded INTEGER,
    PRIMARY KEY (generation, ordinal),
    FOREIGN KEY (tenant, digest) REFERENCES contents (tenant, digest)
) WITHOUT ROWID;
CREATE UNIQUE INDEX versions_current ON versions (tenant, namespace, source, place)
    WHERE superseded IS NULL;
CREATE INDEX versions_history ON versions (tenant, namespace, source, place, generation);
CREATE INDEX versions_content ON versions (tenant, digest);
