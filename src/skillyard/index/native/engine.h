/* An engine: the segments of one generation, asked all at once.
 *
 * It holds their buffers for as long as it lives. What a page's checksum says is Python's affair:
 * a term is handed over after its postings were checked, and a document whose forward list was not
 * is named instead of being read.
 */
#ifndef SKILLYARD_ENGINE_H
#define SKILLYARD_ENGINE_H

#include "kernel.h"

#define MOST_TERMS 256
#define MOST_PARTS 4096
#define AT_ONCE 32768 /* documents whose sums are worked on; a power of two */
#define MANY 131072 /* documents from which a pass lets other threads run meanwhile */
#define SHIFT 16 /* an ordinal is a segment's place, shifted, and a number in it */
#define MASK 0xffff

typedef struct {
    Py_buffer documents, impacts; /* postings */
    Py_buffer starts, terms, values; /* forward lists */
    Py_buffer ties, vectors;
    Py_buffer read; /* one byte a document: its forward list was checked */
    Py_ssize_t count;
    uint16_t *dead, *silent;
    Py_ssize_t dead_count, silent_count;
    int held; /* how many of the buffers are held */
} Part;

typedef struct {
    PyObject_HEAD
    Part *parts;
    Py_ssize_t count, documents, dimensions;
    int32_t *totals; /* AT_ONCE of them */
} Engine;

/* Where one term stands in one part; number -1 where it is unknown there. */
typedef struct {
    int64_t number, first, last;
} Span;

/* The terms of one query. */
typedef struct {
    Py_ssize_t count;
    const char *spans[MOST_TERMS];
    double weights[MOST_TERMS];
} Query;

typedef struct {
    double score;
    uint64_t tie;
    uint32_t ordinal;
} Ranked;

/* A pass over all documents: a large one has totals of its own, and other threads run meanwhile. */
typedef struct {
    int32_t *totals;
    PyThreadState *others;
} Pass;

/* ---- engine.c ---- */

int pass_begin(const Engine *self, Pass *pass);
void pass_end(const Engine *self, Pass *pass);

/* ---- ranked.c ---- */

int by_score(const void *one, const void *other);
int by_ordinal(const void *one, const void *other);
Ranked *ranked_of(const Engine *self, const Best *best, Py_ssize_t most, Py_ssize_t *count);
PyObject *pairs_of(const Ranked *ranked, Py_ssize_t count, int whole);

/* ---- exact.c ---- */

int query_of(const Engine *self, PyObject *spans, PyObject *weights, Query *query);
Span span_at(const Query *query, Py_ssize_t place, Py_ssize_t part);
int score_all(const Engine *self, const Query *query, Ranked *ranked, Py_ssize_t count, int held,
              PyObject *unread);
PyObject *engine_exact(PyObject *object, PyObject *arguments);
PyObject *engine_impacts(PyObject *object, PyObject *arguments);
PyObject *engine_held(PyObject *object, PyObject *arguments);
extern const char exact_doc[];
extern const char impacts_doc[];
extern const char held_doc[];

/* ---- lexical.c ---- */

PyObject *engine_lexical(PyObject *object, PyObject *arguments);
extern const char lexical_doc[];

/* ---- semantic.c ---- */

PyObject *engine_nearest(PyObject *object, PyObject *arguments);
PyObject *engine_dots(PyObject *object, PyObject *arguments);
extern const char nearest_doc[];
extern const char dots_doc[];

#endif
