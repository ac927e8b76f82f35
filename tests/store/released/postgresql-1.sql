




CREATE SCHEMA skillyard;





CREATE TABLE skillyard.contents (
    tenant text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    skill_id text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    description text NOT NULL,
    tags text[] NOT NULL,
    frontmatter jsonb,
    document text NOT NULL,
    body text,
    files text NOT NULL
);



CREATE TABLE skillyard.generations (
    generation bigint NOT NULL,
    stamp text NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    publisher text NOT NULL,
    action text NOT NULL,
    published_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    added bigint NOT NULL,
    changed bigint NOT NULL,
    withdrawn bigint NOT NULL
);



CREATE TABLE skillyard.versions (
    generation bigint NOT NULL,
    ordinal bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    namespace text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    place text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    digest text COLLATE pg_catalog."C",
    around text NOT NULL,
    installs bigint NOT NULL,
    commit_id text,
    url text,
    superseded bigint
);



CREATE VIEW skillyard.entries AS
 SELECT v.tenant,
    v.namespace,
    v.source,
    v.place,
    v.version,
    v.generation,
    v.ordinal,
    v.digest,
    c.document,
    c.body,
    c.files,
    v.around,
    v.installs,
    v.commit_id,
    v.url,
    g.publisher,
    (EXTRACT(epoch FROM g.published_at))::bigint AS published_at,
    v.superseded,
    c.skill_id
   FROM ((skillyard.versions v
     JOIN skillyard.generations g USING (generation))
     LEFT JOIN skillyard.contents c ON (((c.tenant = v.tenant) AND (c.digest = v.digest))));



CREATE VIEW skillyard.heads AS
 SELECT generations.generation,
    generations.stamp
   FROM skillyard.generations;



CREATE TABLE skillyard.schema_versions (
    version integer NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);



INSERT INTO skillyard.contents VALUES ('acme', '7c2ec42cfa137ac60c703325d23e4413e75fe85ea738ca78bd24ce32610826b2', 'csv-c3c2968da1d0', 'csv', 'csv', 'Says one.', '{data,é}', NULL, '{"name":"csv","description":"Says one.","id":"csv-c3c2968da1d0","slug":"csv","tags":["data","\u00e9"],"hash":"c3c2968da1d0a69e970f27f8af8716606a492e09e69281dab03f93575e7f951b","metadata":{"k":[1,null,"x"]}}', '# csv

one
', '[["scripts/run.py","abababababababababababababababababababababababababababababababab",12]]');
INSERT INTO skillyard.contents VALUES ('acme', '81598b7e5d351bfb224fbf324438308ec6bfd99f0fb12e80a8566afbd67339fe', 'pointer-cb27e0ae2cb3', 'pointer', 'pointer', 'Says one.', '{}', NULL, '{"name":"pointer","description":"Says one.","id":"pointer-cb27e0ae2cb3","slug":"pointer","source":"owner/repo","hash":"cb27e0ae2cb39e09f9667a107e4d3e7e8e3608c6ef7c2b7ed25ee57d10525d6e"}', NULL, '[]');
INSERT INTO skillyard.contents VALUES ('acme', 'd03878d82f671280d97a8a02c5aebe477b29a20fe4ae38356f650335484f5f58', 'odd-430dc76baf86', 'odd', 'odd', 'Says one.', '{}', NULL, '{"name":"odd","description":"Says one.","id":"odd-430dc76baf86","slug":"odd","hash":"430dc76baf8602a023851c78daa17a90e7fa458c621d7993764c0412d7c1d1d2","body":"NUL \u0000 and half a pair \ud800"}', NULL, '[]');
INSERT INTO skillyard.contents VALUES ('acme', 'f769b1be4fe9ff51664dcbad3dac07d519319b80dcd974fb896efd6d65ab39a6', 'gone-0f239cc46e06', 'gone', 'gone', 'Says one.', '{}', NULL, '{"name":"gone","description":"Says one.","id":"gone-0f239cc46e06","slug":"gone","hash":"0f239cc46e06b798cee8c696ab2a8e8c2eb0a79b8d3d6a0de2b9d1336b30d84b"}', '# gone

one
', '[]');
INSERT INTO skillyard.contents VALUES ('acme', '8e9d015d6fe55b25e4b5d4bc3e836b4d3a30879ac50e77ecf75131916a803e17', 'csv-1682a03649dc', 'csv', 'csv', 'Says two.', '{}', NULL, '{"name":"csv","description":"Says two.","id":"csv-1682a03649dc","slug":"csv","hash":"1682a03649dc9f018d412a6851b5f6a7d743ad8dbaf28d13cdcd27d5bfdf6e9c"}', '# csv

two
', '[]');
INSERT INTO skillyard.contents VALUES ('acme', '80ac210b6bd37dc79ce54aec956cfb483df1fcdf70fb53238901028cfb6cba85', 'csv-fa176a9b1f79', 'csv', 'csv', 'Says three.', '{}', NULL, '{"name":"csv","description":"Says three.","id":"csv-fa176a9b1f79","slug":"csv","hash":"fa176a9b1f79f11495cb852415ec9ac466c9bed07106e209077c7487909eae23"}', '# csv

three
', '[]');
INSERT INTO skillyard.contents VALUES ('other', '1bb7f7513b4bda28a2f060136887a9b351e2950dedc2487b61c574bcfc0a6cf8', 'csv-f4a01b44e25c', 'csv', 'csv', 'Says one.', '{}', NULL, '{"name":"csv","description":"Says one.","id":"csv-f4a01b44e25c","slug":"csv","hash":"f4a01b44e25c6362c506dedcea6e704771827761c265cc1767cd108884a3dcb4"}', '# csv

one
', '[]');



INSERT INTO skillyard.generations VALUES (1, '89c763da9b0e4d13', 'acme', 'ci', 'publish', '2026-11-21 17:16:13.000613+00', 4, 0, 0);
INSERT INTO skillyard.generations VALUES (2, '95a08a4cb8fa6cda', 'acme', 'ci', 'publish', '2026-11-21 17:16:13.017937+00', 1, 0, 0);
INSERT INTO skillyard.generations VALUES (3, 'a5acd828a55c2c61', 'acme', 'ci', 'publish', '2026-11-21 17:16:13.031277+00', 0, 1, 0);
INSERT INTO skillyard.generations VALUES (4, '75a9ef0e5ddc948c', 'acme', 'people', 'withdraw', '2026-11-21 17:16:13.042696+00', 0, 0, 1);
INSERT INTO skillyard.generations VALUES (5, '496aba3452622720', 'other', 'ci', 'publish', '2026-11-21 17:16:13.054531+00', 1, 0, 0);



INSERT INTO skillyard.schema_versions VALUES (1, 'catalog', '2026-11-21 17:16:12.977564+00');



INSERT INTO skillyard.versions VALUES (1, 3, 'acme', '', '', 'odd', 1, 'd03878d82f671280d97a8a02c5aebe477b29a20fe4ae38356f650335484f5f58', '{"path":"","scope":"project","last_modified":null}', 0, NULL, NULL, NULL);
INSERT INTO skillyard.versions VALUES (1, 4, 'acme', '', 'owner/repo', 'pointer', 1, '81598b7e5d351bfb224fbf324438308ec6bfd99f0fb12e80a8566afbd67339fe', '{"path":"","scope":"project","last_modified":null}', 0, NULL, NULL, NULL);
INSERT INTO skillyard.versions VALUES (2, 1, 'acme', 'team/eu', '', 'csv', 1, '8e9d015d6fe55b25e4b5d4bc3e836b4d3a30879ac50e77ecf75131916a803e17', '{"path":"","scope":"project","last_modified":null}', 0, NULL, NULL, NULL);
INSERT INTO skillyard.versions VALUES (1, 1, 'acme', '', '', 'csv', 1, '7c2ec42cfa137ac60c703325d23e4413e75fe85ea738ca78bd24ce32610826b2', '{"path":"","scope":"project","last_modified":null}', 3, 'c0ffee', 'https://example.com/csv', 3);
INSERT INTO skillyard.versions VALUES (3, 1, 'acme', '', '', 'csv', 2, '80ac210b6bd37dc79ce54aec956cfb483df1fcdf70fb53238901028cfb6cba85', '{"path":"","scope":"project","last_modified":null}', 0, NULL, NULL, NULL);
INSERT INTO skillyard.versions VALUES (1, 2, 'acme', '', '', 'gone', 1, 'f769b1be4fe9ff51664dcbad3dac07d519319b80dcd974fb896efd6d65ab39a6', '{"path":"","scope":"project","last_modified":null}', 0, NULL, NULL, 4);
INSERT INTO skillyard.versions VALUES (4, 1, 'acme', '', '', 'gone', 1, NULL, '{"path":"","scope":"project","last_modified":null}', 0, NULL, NULL, NULL);
INSERT INTO skillyard.versions VALUES (5, 1, 'other', '', '', 'csv', 1, '1bb7f7513b4bda28a2f060136887a9b351e2950dedc2487b61c574bcfc0a6cf8', '{"path":"","scope":"project","last_modified":null}', 0, NULL, NULL, NULL);



ALTER TABLE ONLY skillyard.contents
    ADD CONSTRAINT contents_pkey PRIMARY KEY (tenant, digest);



ALTER TABLE ONLY skillyard.generations
    ADD CONSTRAINT generations_pkey PRIMARY KEY (generation);



ALTER TABLE ONLY skillyard.schema_versions
    ADD CONSTRAINT schema_versions_pkey PRIMARY KEY (version);



ALTER TABLE ONLY skillyard.versions
    ADD CONSTRAINT versions_pkey PRIMARY KEY (generation, ordinal);



CREATE INDEX contents_skill_id ON skillyard.contents USING btree (skill_id);



CREATE INDEX contents_tags ON skillyard.contents USING gin (tags);



CREATE INDEX versions_content ON skillyard.versions USING btree (tenant, digest);



CREATE UNIQUE INDEX versions_current ON skillyard.versions USING btree (tenant, namespace, source, place) WHERE (superseded IS NULL);



CREATE INDEX versions_history ON skillyard.versions USING btree (tenant, namespace, source, place, generation);



ALTER TABLE ONLY skillyard.versions
    ADD CONSTRAINT versions_generation_fkey FOREIGN KEY (generation) REFERENCES skillyard.generations(generation);



ALTER TABLE ONLY skillyard.versions
    ADD CONSTRAINT versions_tenant_digest_fkey FOREIGN KEY (tenant, digest) REFERENCES skillyard.contents(tenant, digest);




