-- One row for each generation: what was published, withdrawn or rolled back together.
CREATE TABLE skillyard.generations (
    generation bigint PRIMARY KEY,
    stamp text NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    publisher text NOT NULL,
    action text NOT NULL,
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    added bigint NOT NULL,
    changed bigint NOT NULL,
    withdrawn bigint NOT NULL
);

-- What skills say, each content once for each tenant.
CREATE TABLE skillyard.contents (
    tenant text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    skill_id text COLLATE "C" NOT NULL,
    slug text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL,
    tags text[] NOT NULL,
    frontmatter jsonb,
    document text NOT NULL,
    body text,
    files text NOT NULL,
    PRIMARY KEY (tenant, digest)
);
CREATE INDEX contents_skill_id ON skillyard.contents (skill_id);
CREATE INDEX contents_tags ON skillyard.contents USING gin (tags);

-- One row for each skill and generation that touched it; no digest: the skill was withdrawn.
-- Rows stay for ever; `superseded` is the generation that brought the next one.
CREATE TABLE skillyard.versions (
    generation bigint NOT NULL REFERENCES skillyard.generations,
    ordinal bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    digest text COLLATE "C",
    around text NOT NULL,
    installs bigint NOT NULL,
    commit_id text,
    url text,
    superseded bigint,
    PRIMARY KEY (generation, ordinal),
    FOREIGN KEY (tenant, digest) REFERENCES skillyard.contents
);
CREATE UNIQUE INDEX versions_current ON skillyard.versions (tenant, namespace, source, place)
    WHERE superseded IS NULL;
CREATE INDEX versions_history
    ON skillyard.versions (tenant, namespace, source, place, generation);
CREATE INDEX versions_content ON skillyard.versions (tenant, digest);

-- Versions with all that there is to say of them.
CREATE VIEW skillyard.entries AS
SELECT
    v.tenant, v.namespace, v.source, v.place, v.version, v.generation, v.ordinal, v.digest,
    c.document, c.body, c.files, v.around, v.installs, v.commit_id, v.url, g.publisher,
    extract(epoch FROM g.published_at)::bigint AS published_at,
    v.superseded, c.skill_id
FROM skillyard.versions v
JOIN skillyard.generations g USING (generation)
LEFT JOIN skillyard.contents c ON c.tenant = v.tenant AND c.digest = v.digest;

-- Numbers and stamps of generations are common to all; who published what is not here.
CREATE VIEW skillyard.heads AS SELECT generation, stamp FROM skillyard.generations;
