-- What callers may see. An empty namespace or place stands for all of them.
CREATE TABLE grants (
    caller TEXT NOT NULL,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    place TEXT NOT NULL,
    PRIMARY KEY (caller, tenant, namespace, place)
) WITHOUT ROWID;

-- The generation from which a caller's view is what it is now.
CREATE TABLE callers (
    caller TEXT PRIMARY KEY,
    generation INTEGER NOT NULL REFERENCES generations (generation)
) WITHOUT ROWID;
