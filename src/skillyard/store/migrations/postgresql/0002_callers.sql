-- What callers may see. An empty namespace or place stands for all of them.
CREATE TABLE skillyard.grants (
    caller text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    PRIMARY KEY (caller, tenant, namespace, place)
);

-- The generation from which a caller's view is what it is now.
CREATE TABLE skillyard.callers (
    caller text COLLATE "C" PRIMARY KEY,
    generation bigint NOT NULL REFERENCES skillyard.generations
);

-- The role that callers' views are read as. It sees the views below and no table.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'skillyard_reader') THEN
        CREATE ROLE skillyard_reader NOLOGIN;
        IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
            EXECUTE format('GRANT skillyard_reader TO %I', current_user);
        END IF;
    END IF;
EXCEPTION
    -- Roles belong to the whole server: another database's store made it just now.
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- Whose view it is. A login that does not own the store is its own caller, whatever it sets.
CREATE FUNCTION skillyard.caller() RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN pg_has_role(
            session_user,
            (SELECT nspowner FROM pg_namespace WHERE nspname = 'skillyard'),
            'MEMBER'
        ) THEN current_setting('skillyard.caller', true)
        ELSE session_user::text
    END
$$;

CREATE VIEW skillyard.visible WITH (security_barrier) AS
SELECT e.*
FROM skillyard.entries e
WHERE EXISTS (
    SELECT FROM skillyard.grants a
    WHERE a.caller = (SELECT skillyard.caller())
      AND a.tenant = e.tenant
      AND (a.namespace = '' OR a.namespace = e.namespace
           OR starts_with(e.namespace, a.namespace || '/'))
      AND (a.place = '' OR a.place = e.place)
);

-- The next rows of a view, in commit order. A view that hides its rows well is also sorted whole
-- for every page; this function looks at rows in order, one by one, until it has enough.
CREATE FUNCTION skillyard.visible_after(
    at_generation bigint, at_ordinal bigint, until bigint, most bigint
) RETURNS SETOF skillyard.entries
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
    RETURN QUERY
    SELECT e.*
    FROM skillyard.entries e
    WHERE (e.generation, e.ordinal) > (at_generation, at_ordinal) AND e.generation <= until
      AND (e.superseded IS NULL OR e.superseded > until)
      AND EXISTS (
        SELECT FROM skillyard.grants a
        WHERE a.caller = (SELECT skillyard.caller())
          AND a.tenant = e.tenant
          AND (a.namespace = '' OR a.namespace = e.namespace
               OR starts_with(e.namespace, a.namespace || '/'))
          AND (a.place = '' OR a.place = e.place)
        OFFSET 0 -- a filter for each row, and never a join that would need a sort
      )
    ORDER BY e.generation, e.ordinal
    LIMIT most;
END
$$;

CREATE VIEW skillyard.view_generations WITH (security_barrier) AS
SELECT generation FROM skillyard.callers WHERE caller = (SELECT skillyard.caller());

REVOKE ALL ON FUNCTION
    skillyard.caller(), skillyard.visible_after(bigint, bigint, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    skillyard.caller(), skillyard.visible_after(bigint, bigint, bigint, bigint)
    TO skillyard_reader;
GRANT USAGE ON SCHEMA skillyard TO skillyard_reader;
GRANT SELECT ON
    skillyard.visible, skillyard.heads, skillyard.view_generations, skillyard.schema_versions
    TO skillyard_reader;
