/* The engine: searches all segments of one generation.
 *
 * It holds their buffers for its lifetime. Python verifies the checksums: it passes a term after
 * verifying its postings. A document with an unverified forward list is returned, not read.
 */
#ifndef SKILLYARD_ENGINE_H
#define SKILLYARD_ENGINE_H

#include "kernel.h"

#define MAX_TERMS 256
#define MAX_PARTS 4096
#define AT_ONCE 32768 /* documents per block of accumulators; a power of two */
#define MANY 131072 /* documents from which a pass releases the interpreter lock */
#define SHIFT 16 /* ordinal = segment position << SHIFT | document number */
#define MASK 0xffff

typedef struct {
    Py_buffer documents, impacts; /* postings */
    Py_buffer starts, terms, values; /* forward lists */
    Py_buffer ties, vectors;
    Py_buffer read; /* one byte per document: its forward list is verified */
    Py_ssize_t count;
    uint16_t *dead, *silent;
    Py_ssize_t dead_count, silent_count;
    int held; /* number of buffers held */
} Part;

typedef struct {
    PyObject_HEAD
    Part *parts;
    Py_ssize_t count, documents, dimensions;
    int32_t *totals; /* AT_ONCE of them */
} Engine;

/* The postings of one term in one part; number is -1 when the part does not contain it. */
typedef struct {
    int64_t number, first, last;
} Span;

/* The terms of one query. */
typedef struct {
    Py_ssize_t count;
    const char *spans[MAX_TERMS];
    double weights[MAX_TERMS];
} Query;

typedef struct {
    double score;
    uint64_t tie;
    uint32_t ordinal;
} Ranked;

/* A pass over all documents. A large one has its own totals and releases the lock. */
typedef struct {
    int32_t *totals;
    PyThreadState *others;
} Pass;

/* ---- engine.c ---- */

int pass_begin(const Engine *self, Pass *pass);
void pass_end(const Engine *self, Pass *pass);

/* ---- results.c ---- */

int by_score(const void *one, const void *other);
int by_ordinal(const void *one, const void *other);
Ranked *ranked_of(const Engine *self, const Best *best, Py_ssize_t most, Py_ssize_t *count);
PyObject *pairs_of(const Ranked *ranked, Py_ssize_t count, int whole);

/* ---- exact.c ---- */

int query_of(const Engine *self, PyObject *spans, PyObject *weights, Query *query);
Span span_at(const Query *query, Py_ssize_t place, Py_ssize_t part);
int score_all(const Engine *self, const Query *query, Ranked *ranked, Py_ssize_t count, int held,
              PyObject *unread);
PyObject *engine_exact_scores(PyObject *object, PyObject *arguments);
PyObject *engine_impacts(PyObject *object, PyObject *arguments);
PyObject *engine_matched_weights(PyObject *object, PyObject *arguments);
extern const char exact_scores_doc[];
extern const char impacts_doc[];
extern const char matched_weights_doc[];

/* ---- lexical.c ---- */

PyObject *engine_lexical(PyObject *object, PyObject *arguments);
extern const char lexical_doc[];

/* ---- semantic.c ---- */

PyObject *engine_nearest(PyObject *object, PyObject *arguments);
PyObject *engine_dots(PyObject *object, PyObject *arguments);
extern const char nearest_doc[];
extern const char dots_doc[];

#endif
