BEGIN TRANSACTION;
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
INSERT INTO "contents" VALUES('acme','7c2ec42cfa137ac60c703325d23e4413e75fe85ea738ca78bd24ce32610826b2','csv-c3c2968da1d0','csv','csv','Says one.','["data", "\u00e9"]',NULL,'{"name":"csv","description":"Says one.","id":"csv-c3c2968da1d0","slug":"csv","tags":["data","\u00e9"],"hash":"c3c2968da1d0a69e970f27f8af8716606a492e09e69281dab03f93575e7f951b","metadata":{"k":[1,null,"x"]}}','# csv

one
','[["scripts/run.py","abababababababababababababababababababababababababababababababab",12]]');
INSERT INTO "contents" VALUES('acme','d03878d82f671280d97a8a02c5aebe477b29a20fe4ae38356f650335484f5f58','odd-430dc76baf86','odd','odd','Says one.','[]',NULL,'{"name":"odd","description":"Says one.","id":"odd-430dc76baf86","slug":"odd","hash":"430dc76baf8602a023851c78daa17a90e7fa458c621d7993764c0412d7c1d1d2","body":"NUL \u0000 and half a pair \ud800"}',NULL,'[]');
INSERT INTO "contents" VALUES('acme','f769b1be4fe9ff51664dcbad3dac07d519319b80dcd974fb896efd6d65ab39a6','gone-0f239cc46e06','gone','gone','Says one.','[]',NULL,'{"name":"gone","description":"Says one.","id":"gone-0f239cc46e06","slug":"gone","hash":"0f239cc46e06b798cee8c696ab2a8e8c2eb0a79b8d3d6a0de2b9d1336b30d84b"}','# gone

one
','[]');
INSERT INTO "contents" VALUES('acme','81598b7e5d351bfb224fbf324438308ec6bfd99f0fb12e80a8566afbd67339fe','pointer-cb27e0ae2cb3','pointer','pointer','Says one.','[]',NULL,'{"name":"pointer","description":"Says one.","id":"pointer-cb27e0ae2cb3","slug":"pointer","source":"owner/repo","hash":"cb27e0ae2cb39e09f9667a107e4d3e7e8e3608c6ef7c2b7ed25ee57d10525d6e"}',NULL,'[]');
INSERT INTO "contents" VALUES('acme','8e9d015d6fe55b25e4b5d4bc3e836b4d3a30879ac50e77ecf75131916a803e17','csv-1682a03649dc','csv','csv','Says two.','[]',NULL,'{"name":"csv","description":"Says two.","id":"csv-1682a03649dc","slug":"csv","hash":"1682a03649dc9f018d412a6851b5f6a7d743ad8dbaf28d13cdcd27d5bfdf6e9c"}','# csv

two
','[]');
INSERT INTO "contents" VALUES('acme','80ac210b6bd37dc79ce54aec956cfb483df1fcdf70fb53238901028cfb6cba85','csv-fa176a9b1f79','csv','csv','Says three.','[]',NULL,'{"name":"csv","description":"Says three.","id":"csv-fa176a9b1f79","slug":"csv","hash":"fa176a9b1f79f11495cb852415ec9ac466c9bed07106e209077c7487909eae23"}','# csv

three
','[]');
INSERT INTO "contents" VALUES('other','1bb7f7513b4bda28a2f060136887a9b351e2950dedc2487b61c574bcfc0a6cf8','csv-f4a01b44e25c','csv','csv','Says one.','[]',NULL,'{"name":"csv","description":"Says one.","id":"csv-f4a01b44e25c","slug":"csv","hash":"f4a01b44e25c6362c506dedcea6e704771827761c265cc1767cd108884a3dcb4"}','# csv

one
','[]');
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
INSERT INTO "generations" VALUES(1,'e2b308a57cfff53f','acme','ci','publish',1795281081,4,0,0);
INSERT INTO "generations" VALUES(2,'cd9d8c6e9bbd93c7','acme','ci','publish',1795281081,1,0,0);
INSERT INTO "generations" VALUES(3,'b89ccaee5ffda210','acme','ci','publish',1795281081,0,1,0);
INSERT INTO "generations" VALUES(4,'15ee82e34ef3e6ab','acme','people','withdraw',1795281081,0,0,1);
INSERT INTO "generations" VALUES(5,'e7c7ac9e74cda6cc','other','ci','publish',1795281081,1,0,0);
CREATE TABLE schema_versions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)));
INSERT INTO "schema_versions" VALUES(1,'catalog',1795281081);
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
INSERT INTO "versions" VALUES(1,1,'acme','','','csv',1,'7c2ec42cfa137ac60c703325d23e4413e75fe85ea738ca78bd24ce32610826b2','{"path":"","scope":"project","last_modified":null}',3,'c0ffee','https://example.com/csv',3);
INSERT INTO "versions" VALUES(1,2,'acme','','','gone',1,'f769b1be4fe9ff51664dcbad3dac07d519319b80dcd974fb896efd6d65ab39a6','{"path":"","scope":"project","last_modified":null}',0,NULL,NULL,4);
INSERT INTO "versions" VALUES(1,3,'acme','','','odd',1,'d03878d82f671280d97a8a02c5aebe477b29a20fe4ae38356f650335484f5f58','{"path":"","scope":"project","last_modified":null}',0,NULL,NULL,NULL);
INSERT INTO "versions" VALUES(1,4,'acme','','owner/repo','pointer',1,'81598b7e5d351bfb224fbf324438308ec6bfd99f0fb12e80a8566afbd67339fe','{"path":"","scope":"project","last_modified":null}',0,NULL,NULL,NULL);
INSERT INTO "versions" VALUES(2,1,'acme','team/eu','','csv',1,'8e9d015d6fe55b25e4b5d4bc3e836b4d3a30879ac50e77ecf75131916a803e17','{"path":"","scope":"project","last_modified":null}',0,NULL,NULL,NULL);
INSERT INTO "versions" VALUES(3,1,'acme','','','csv',2,'80ac210b6bd37dc79ce54aec956cfb483df1fcdf70fb53238901028cfb6cba85','{"path":"","scope":"project","last_modified":null}',0,NULL,NULL,NULL);
INSERT INTO "versions" VALUES(4,1,'acme','','','gone',1,NULL,'{"path":"","scope":"project","last_modified":null}',0,NULL,NULL,NULL);
INSERT INTO "versions" VALUES(5,1,'other','','','csv',1,'1bb7f7513b4bda28a2f060136887a9b351e2950dedc2487b61c574bcfc0a6cf8','{"path":"","scope":"project","last_modified":null}',0,NULL,NULL,NULL);
CREATE INDEX contents_skill_id ON contents (skill_id);
CREATE UNIQUE INDEX versions_current ON versions (tenant, namespace, source, place)
    WHERE superseded IS NULL;
CREATE INDEX versions_history ON versions (tenant, namespace, source, place, generation);
CREATE INDEX versions_content ON versions (tenant, digest);
COMMIT;
