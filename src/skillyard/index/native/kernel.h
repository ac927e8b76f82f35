/* The inner loops of an index: the same answers as the Python beside it, sooner.
 *
 * Every function takes buffers and lists and checks every bound before it reads. Whole numbers are
 * exact whatever the order of adding; doubles are added in the order of the query, and the build
 * forbids the compiler to fuse a multiplication with an addition (-ffp-contract=off), so the bits
 * are those of Python. Built for the stable ABI of CPython 3.11.
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

#define MOST_DOCUMENTS 65536
#define MOST_DIMENSIONS 4096

/* A buffer of one dimension whose items have the size that is expected of them. */
int view_of(PyObject *source, Py_buffer *view, Py_ssize_t item, int flags);

static inline Py_ssize_t items_of(const Py_buffer *view)
{
    return view->len / view->itemsize;
}

int whole_at(PyObject *list, Py_ssize_t place, long long *value);

/* ---- best.c: the best of many whole numbers ---- */

typedef struct {
    int32_t value;
    uint32_t ordinal;
} Found;

/* What was found so far: everything that may still be among the `limit` best or at most `slack`
 * below the last of them. */
typedef struct {
    Py_ssize_t limit;
    int64_t slack;
    int32_t *heap; /* the best values, the smallest first */
    Py_ssize_t used, room;
    Found *list;
    Py_ssize_t length, space;
    int32_t least; /* a lower value is of no use any more; 1 at least */
} Best;

int best_start(Best *best, Py_ssize_t limit, int64_t slack, Py_ssize_t most);
int best_add(Best *best, const int32_t *values, Py_ssize_t count, uint32_t base);
void best_finish(Best *best);
void best_free(Best *best);

/* ---- vectors.c ---- */

void dot_each(const int8_t *rows, Py_ssize_t count, Py_ssize_t dimensions, const int16_t *query,
              int32_t *dots);
/* Ask for a row that lies somewhere in memory, ahead of its use. */
static inline void fetch_row(const int8_t *row, Py_ssize_t length)
{
#if defined(__GNUC__)
    for (Py_ssize_t place = 0; place < length; place += 64) {
        __builtin_prefetch(row + place);
    }
#endif
}

#define MOST_ROWS 4096
#define MOST_WEIGHT 4095

/* One row of a token table, and what it counts in a sum. */
typedef struct {
    Py_ssize_t row;
    int32_t weight;
} WeighedRow;

void sum_rows(const int8_t *rows, Py_ssize_t dimensions, const WeighedRow *listed,
              Py_ssize_t count, int32_t *sums);
/* Add the direction of the shifted sums, weight long. */
void mix_sums(const int32_t *sums, Py_ssize_t dimensions, int shift, double weight, double *mixed);
PyObject *unit_of(const double *mixed, Py_ssize_t dimensions, double fine, double unit);
int16_t *widened(const Py_buffer *query);
PyObject *direction(PyObject *self, PyObject *arguments);
PyObject *moved(PyObject *self, PyObject *arguments);
extern const char direction_doc[];
extern const char moved_doc[];

/* ---- building.c ---- */

PyObject *numbered(PyObject *self, PyObject *arguments);
PyObject *singles(PyObject *self, PyObject *numbers);
PyObject *ranks(PyObject *self, PyObject *arguments);
PyObject *slots(PyObject *self, PyObject *names);
PyObject *arrange(PyObject *self, PyObject *arguments);
PyObject *invert(PyObject *self, PyObject *arguments);
extern const char numbered_doc[];
extern const char singles_doc[];
extern const char ranks_doc[];
extern const char slots_doc[];
extern const char arrange_doc[];
extern const char invert_doc[];

/* ---- pages.c ---- */

void crc_prepare(void);
uint32_t crc_of(const uint8_t *bytes, size_t count);
PyObject *crc32(PyObject *self, PyObject *source);
PyObject *wrong_page(PyObject *self, PyObject *arguments);
PyObject *check_forward(PyObject *self, PyObject *arguments);
PyObject *highest(PyObject *self, PyObject *source);
PyObject *look_up_name(PyObject *self, PyObject *arguments);
extern const char crc32_doc[];
extern const char wrong_page_doc[];
extern const char check_forward_doc[];
extern const char highest_doc[];
extern const char look_up_name_doc[];

/* ---- engine.c ---- */

extern PyType_Spec engine_spec;

/* ---- terms.c ---- */

void terms_prepare(void);
extern PyType_Spec terms_spec;

#endif
