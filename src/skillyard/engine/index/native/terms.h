/* The analyzer's chain for the common scripts: ASCII, Han, kana, Hangul. */
#ifndef SKILLYARD_TERMS_H
#define SKILLYARD_TERMS_H

#include "map.h"

#define PAGES 0x1100 /* of 256 code points each */

typedef struct {
    PyObject_HEAD
    PyObject *chain;   /* the Python beside this, for one surface: str -> (str, ...) */
    PyObject *stem;    /* str -> str */
    PyObject *page_of; /* number of a page -> 32 bytes, a bit for each character of a word */
    Map technical;     /* how people write a term, in lower case; value: its place in canonical */
    Map canonical;
    Map stops;
    Map surfaces; /* value: where its terms stand in lists */
    Map words;    /* after the split, before the stem; value: its term, or NO_TERM */
    Map terms;
    uint32_t *lists; /* a number of terms, then those */
    size_t listed, list_room;
    PyObject **names; /* the str of each term */
    uint32_t *places; /* of each term among the counts at hand, plus 1; 0 between two calls */
    size_t name_room, place_room;
    PyObject *table; /* whose rows are remembered */
    int32_t *rows;   /* of each term in that table, -1 for none */
    size_t row_room;
    uint8_t *pages[PAGES];
    size_t most;         /* surfaces that are remembered */
    size_t longest_term; /* characters */
    size_t longest_whole;
    size_t shortest_stemmed;
    int active; /* calls at work: Python that one of them runs may begin another */
} Terms;

/* One word as it stands in a text. */
typedef struct {
    size_t start, length;
    uint32_t hash;
    int holds; /* characters of which kinds */
} Surface;

typedef struct {
    Surface *items;
    size_t count, room;
} Surfaces;

/* Terms in the order of a text. */
typedef struct {
    uint32_t *items;
    size_t count, room;
} Ids;

/* One field: each term once, in the order of first sight, with how often it stands there. */
typedef struct {
    uint32_t *terms;
    uint32_t *numbers;
    size_t count, room, number_room;
    size_t length; /* of all terms together */
} Counts;

void terms_begin(Terms *self);
void terms_end(Terms *self);
int terms_of(Terms *self, PyObject *text, Ids *ids);
/* Count terms. No Python runs meanwhile. Returns -1 with an error set. */
int count_ids(Terms *self, const Ids *ids, Counts *counts);
void counts_free(Counts *counts);

/* ---- bm25f.c ---- */

PyObject *terms_index_text(PyObject *object, PyObject *arguments);
extern const char index_text_doc[];

#endif
