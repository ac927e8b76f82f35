/* The inner loops of an index. They return the same results as the Python code.
 *
 * Every function checks all bounds before it reads. Integer sums do not depend on their order.
 * Doubles are added in query order, and the build disables fused multiply-add
 * (-ffp-contract=off), so the bits equal those of Python. Built for the stable ABI of CPython 3.11.
 */
#ifndef SKILLYARD_KERNEL_H
#define SKILLYARD_KERNEL_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DOCUMENTS 65536
#define MAX_DIMENSIONS 4096

/* Get a one-dimensional buffer with items of the given size. */
int view_of(PyObject *source, Py_buffer *view, Py_ssize_t item, int flags);

static inline Py_ssize_t items_of(const Py_buffer *view)
{
    return view->len / view->itemsize;
}

int whole_at(PyObject *list, Py_ssize_t place, long long *value);

/* ---- top_k.c: the largest of many integers ---- */

typedef struct {
    int32_t value;
    uint32_t ordinal;
} ScoredOrdinal;

/* A top-k collector: all values that can be among the `limit` best, or within `slack` of the last
 * of them. */
typedef struct {
    Py_ssize_t limit;
    int64_t slack;
    int32_t *heap; /* the best values, the smallest first */
    Py_ssize_t used, room;
    ScoredOrdinal *list;
    Py_ssize_t length, space;
    int32_t least; /* lower values are dropped; at least 1 */
} Best;

int best_start(Best *best, Py_ssize_t limit, int64_t slack, Py_ssize_t most);
int best_add(Best *best, const int32_t *values, Py_ssize_t count, uint32_t base);
void best_finish(Best *best);
void best_free(Best *best);

/* ---- vectors.c ---- */

void dot_each(const int8_t *rows, Py_ssize_t count, Py_ssize_t dimensions, const int16_t *query,
              int32_t *dots);
/* Prefetch a row. */
static inline void fetch_row(const int8_t *row, Py_ssize_t length)
{
#if defined(__GNUC__)
    for (Py_ssize_t place = 0; place < length; place += 64) {
        __builtin_prefetch(row + place);
    }
#endif
}

#define MAX_ROWS 4096
#define MAX_WEIGHT 4095

/* One row of a token table with its weight in a sum. */
typedef struct {
    Py_ssize_t row;
    int32_t weight;
} WeighedRow;

void sum_rows(const int8_t *rows, Py_ssize_t dimensions, const WeighedRow *listed,
              Py_ssize_t count, int32_t *sums);
/* Add the shifted sums, scaled to the length `weight`. */
void mix_sums(const int32_t *sums, Py_ssize_t dimensions, int shift, double weight, double *mixed);
PyObject *unit_of(const double *mixed, Py_ssize_t dimensions, double fine, double unit);
int16_t *widened(const Py_buffer *query);
PyObject *text_vector(PyObject *self, PyObject *arguments);
PyObject *shift_vector(PyObject *self, PyObject *arguments);
extern const char text_vector_doc[];
extern const char shift_vector_doc[];

/* ---- segment_writer.c ---- */

PyObject *number_terms(PyObject *self, PyObject *arguments);
PyObject *to_float32(PyObject *self, PyObject *numbers);
PyObject *sorted_ranks(PyObject *self, PyObject *arguments);
PyObject *hash_slots(PyObject *self, PyObject *names);
PyObject *sort_forward_lists(PyObject *self, PyObject *arguments);
PyObject *invert_forward_lists(PyObject *self, PyObject *arguments);
extern const char number_terms_doc[];
extern const char to_float32_doc[];
extern const char sorted_ranks_doc[];
extern const char hash_slots_doc[];
extern const char sort_forward_lists_doc[];
extern const char invert_forward_lists_doc[];

/* ---- pages.c ---- */

void crc_prepare(void);
uint32_t crc_of(const uint8_t *bytes, size_t count);
PyObject *crc32(PyObject *self, PyObject *source);
PyObject *find_damaged_page(PyObject *self, PyObject *arguments);
PyObject *check_forward_lists(PyObject *self, PyObject *arguments);
PyObject *largest_u16(PyObject *self, PyObject *source);
PyObject *look_up_name(PyObject *self, PyObject *arguments);
extern const char crc32_doc[];
extern const char find_damaged_page_doc[];
extern const char check_forward_lists_doc[];
extern const char largest_u16_doc[];
extern const char look_up_name_doc[];

/* ---- engine.c ---- */

extern PyType_Spec engine_spec;

/* ---- terms.c ---- */

void terms_prepare(void);
extern PyType_Spec terms_spec;

#endif
