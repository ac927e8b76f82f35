/* Indexes the texts of a skill: term impacts, vector, and the terms for facet terms. */
#include "terms.h"

#include <math.h>

#define FIELDS 16
#define NAMES_AHEAD 12
#define UNKNOWN (-2) /* a term that was not looked up yet */

/* The sections of a token table; see skillyard.engine.index.token_table. */
typedef struct {
    Py_buffer rows, weights, offsets, terms;
    int held;
    Py_ssize_t count, dimensions;
    int shift;
    double fine, unit;
} Table;

static void table_close(Table *table)
{
    Py_buffer *all[] = {&table->rows, &table->weights, &table->offsets, &table->terms};
    while (table->held > 0) {
        PyBuffer_Release(all[--table->held]);
    }
}

static int table_open(Table *table, PyObject *given)
{
    PyObject *sources[4];
    Py_buffer *views[] = {&table->rows, &table->weights, &table->offsets, &table->terms};
    static const Py_ssize_t items[] = {1, 2, 4, 1};
    if (!PyArg_ParseTuple(given, "OOOOnidd", &sources[0], &sources[1], &sources[2], &sources[3],
                          &table->dimensions, &table->shift, &table->fine, &table->unit)) {
        return -1;
    }
    for (; table->held < 4; table->held++) {
        if (view_of(sources[table->held], views[table->held], items[table->held], PyBUF_ND) < 0) {
            return -1;
        }
    }
    table->count = items_of(&table->weights);
    if (table->dimensions <= 0 || table->dimensions > MAX_DIMENSIONS || table->shift < 0 ||
        table->shift > 16 || table->count >= INT32_MAX ||
        items_of(&table->offsets) != table->count + 1 ||
        table->rows.len != table->count * table->dimensions) {
        PyErr_SetString(PyExc_ValueError, "the sections of the table do not fit each other");
        return -1;
    }
    return 0;
}

/* The columns of a file stand wherever the one before ends: they are copied, not pointed at. */
static inline uint32_t offset_at(const Table *table, Py_ssize_t place)
{
    uint32_t offset;
    memcpy(&offset, (const char *)table->offsets.buf + 4 * place, sizeof offset);
    return offset;
}

static inline uint16_t weight_at(const Table *table, Py_ssize_t row)
{
    uint16_t weight;
    memcpy(&weight, (const char *)table->weights.buf + 2 * row, sizeof weight);
    return weight;
}

/* The row of a term, or -1. */
static int32_t find_row(const Table *table, const char *term, size_t length)
{
    Py_ssize_t low = 0, high = table->count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        size_t start = offset_at(table, middle), end = offset_at(table, middle + 1);
        if (start > end || end > (size_t)table->terms.len) {
            return -1; /* a damaged table has no such term */
        }
        size_t size = end - start, both = size < length ? size : length;
        int order = memcmp((const char *)table->terms.buf + start, term, both);
        if (order == 0 && size == length) {
            return (int32_t)middle;
        }
        if (order < 0 || (order == 0 && size < length)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return -1;
}

static void forget_rows(Terms *self, PyObject *table)
{
    PyObject *before = self->table;
    self->table = Py_NewRef(table);
    free(self->rows);
    self->rows = NULL;
    self->row_room = 0;
    Py_XDECREF(before);
}

static int32_t row_of(Terms *self, const Table *table, uint32_t id)
{
    int32_t *row = &self->rows[id];
    if (*row == UNKNOWN) {
        const Entry *entry = &self->terms.entries[id];
        *row = find_row(table, map_key(&self->terms, entry), entry->length);
    }
    return *row;
}

/* The rows of one field with their weights; see Table._weighed. */
static Py_ssize_t weigh_rows(Terms *self, const Table *table, const Counts *counts,
                             WeighedRow *listed)
{
    Py_ssize_t count = 0;
    for (size_t place = 0; place < counts->count && count < MAX_ROWS; place++) {
        int32_t row = row_of(self, table, counts->terms[place]);
        if (row >= 0) {
            uint32_t number = counts->numbers[place];
            double times = number == 1 ? 1.0 : 1.0 + log((double)number);
            double weight = rint(weight_at(table, row) * times / 16.0);
            listed[count].row = row;
            listed[count].weight =
                (int32_t)(weight < 1.0 ? 1.0 : weight > MAX_WEIGHT ? MAX_WEIGHT : weight);
            count++;
        }
    }
    return count;
}

/* What counts how much; read before the work begins, as reading numbers may run Python. */
typedef struct {
    double weights[FIELDS], averages[FIELDS];
    Py_ssize_t summed;
    Py_ssize_t sources[FIELDS];
    double mixed[FIELDS];
    Py_ssize_t mixing;
} Recipe;

/* What one skill needs while it is weighed. */
typedef struct {
    Counts fields[FIELDS];
    Py_ssize_t count;
    uint32_t *terms; /* of the sum, in the order of first sight */
    double *sums;
    size_t used, term_room, sum_room;
} Work;

static void work_free(Work *work)
{
    for (Py_ssize_t field = 0; field < FIELDS; field++) {
        counts_free(&work->fields[field]);
    }
    free(work->terms);
    free(work->sums);
}

static int read_texts(Terms *self, PyObject *texts, Work *work)
{
    work->count = PyTuple_Size(texts);
    Ids ids = {0};
    int result = 0;
    for (Py_ssize_t field = 0; result == 0 && field < work->count; field++) {
        ids.count = 0;
        result = terms_of(self, PyTuple_GetItem(texts, field), &ids) < 0 ||
                         count_ids(self, &ids, &work->fields[field]) < 0
                     ? -1
                     : 0;
    }
    free(ids.items);
    return result;
}

static int read_recipe(Recipe *recipe, PyObject *fields, PyObject *mixing, Py_ssize_t texts)
{
    recipe->summed = PyTuple_Size(fields);
    recipe->mixing = PyTuple_Size(mixing);
    if (texts < 1 || texts > FIELDS || recipe->summed > texts || recipe->mixing > FIELDS) {
        PyErr_SetString(PyExc_ValueError, "too many fields, or no text");
        return -1;
    }
    for (Py_ssize_t each = 0; each < recipe->summed; each++) {
        if (!PyArg_ParseTuple(PyTuple_GetItem(fields, each), "dd", &recipe->weights[each],
                              &recipe->averages[each])) {
            return -1;
        }
    }
    for (Py_ssize_t each = 0; each < recipe->mixing; each++) {
        if (!PyArg_ParseTuple(PyTuple_GetItem(mixing, each), "nd", &recipe->sources[each],
                              &recipe->mixed[each])) {
            return -1;
        }
        if (recipe->sources[each] < 0 || recipe->sources[each] >= texts) {
            PyErr_SetString(PyExc_ValueError, "no such field");
            return -1;
        }
    }
    return 0;
}

/* Add the fields up; see skillyard.engine.index.document_builder. No Python runs meanwhile. */
static int add_fields(Terms *self, const Recipe *recipe, double b, Work *work)
{
    int result = 0;
    for (Py_ssize_t field = 0; field < recipe->summed; field++) {
        const Counts *counts = &work->fields[field];
        double length = (double)counts->length;
        double weight = recipe->weights[field] / (1.0 - b + b * length / recipe->averages[field]);
        if (grow((void **)&work->terms, &work->term_room, work->used + counts->count,
                 sizeof(uint32_t)) < 0 ||
            grow((void **)&work->sums, &work->sum_room, work->used + counts->count,
                 sizeof(double)) < 0) {
            result = -1;
            break;
        }
        for (size_t place = 0; place < counts->count; place++) {
            uint32_t id = counts->terms[place], seen = self->places[id];
            double part = weight * (double)counts->numbers[place];
            if (seen) {
                work->sums[seen - 1] += part;
                continue;
            }
            work->terms[work->used] = id;
            work->sums[work->used++] = part;
            self->places[id] = (uint32_t)work->used;
        }
    }
    for (size_t place = 0; place < work->used; place++) {
        self->places[work->terms[place]] = 0;
    }
    return result;
}

static PyObject *names_of(const Terms *self, const uint32_t *ids, size_t count)
{
    PyObject *names = PyTuple_New((Py_ssize_t)count);
    for (size_t place = 0; names != NULL && place < count; place++) {
#if defined(__GNUC__)
        if (place + NAMES_AHEAD < count) { /* they lie all over the memory */
            __builtin_prefetch(self->names[ids[place + NAMES_AHEAD]], 1);
        }
#endif
        PyTuple_SetItem(names, (Py_ssize_t)place, Py_NewRef(self->names[ids[place]]));
    }
    return names;
}

static PyObject *impacts_of(const Work *work, double k1)
{
    PyObject *impacts = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(4 * work->used));
    if (impacts == NULL) {
        return NULL;
    }
    char *into = PyBytes_AsString(impacts);
    for (size_t place = 0; place < work->used; place++) {
        double sum = work->sums[place];
        float impact = (float)(sum / (k1 + sum));
        memcpy(into + 4 * place, &impact, 4);
    }
    return impacts;
}

static PyObject *vector_of(Terms *self, const Table *table, const Recipe *recipe, const Work *work)
{
    PyObject *vector = NULL;
    Py_ssize_t dimensions = table->dimensions;
    int32_t *sums = malloc((size_t)dimensions * sizeof(int32_t));
    double *mixed = calloc((size_t)dimensions, sizeof(double));
    WeighedRow *listed = malloc(MAX_ROWS * sizeof(WeighedRow));
    if (sums == NULL || mixed == NULL || listed == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t each = 0; each < recipe->mixing; each++) {
        Py_ssize_t count = weigh_rows(self, table, &work->fields[recipe->sources[each]], listed);
        sum_rows(table->rows.buf, dimensions, listed, count, sums);
        mix_sums(sums, dimensions, table->shift, recipe->mixed[each], mixed);
    }
    vector = unit_of(mixed, dimensions, table->fine, table->unit);
done:
    free(sums);
    free(mixed);
    free(listed);
    return vector;
}

/* Make room for the row of every term, for this table. */
static int prepare_rows(Terms *self, PyObject *table)
{
    if (self->table != table) {
        forget_rows(self, table);
    }
    size_t before = self->row_room;
    if (grow((void **)&self->rows, &self->row_room, self->terms.used, sizeof(int32_t)) < 0) {
        return -1;
    }
    for (size_t place = before; place < self->row_room; place++) {
        self->rows[place] = UNKNOWN;
    }
    return 0;
}

const char index_text_doc[] = PyDoc_STR(
"index_text(texts, fields, k1, b, mixing, table)\n"
"-> (terms, impacts, vector, lengths, first, last)\n\n"
"What an index holds of a skill's texts; see skillyard.engine.index.document_builder. Impacts are floats of 32\n"
"bits. With the length of each text in terms come the terms of the first text and of the last.");

PyObject *terms_index_text(PyObject *object, PyObject *arguments)
{
    Terms *self = (Terms *)object;
    PyObject *texts, *fields, *mixing, *given;
    double k1, b;
    if (!PyArg_ParseTuple(arguments, "O!O!ddO!O!", &PyTuple_Type, &texts, &PyTuple_Type, &fields,
                          &k1, &b, &PyTuple_Type, &mixing, &PyTuple_Type, &given)) {
        return NULL;
    }
    Table table = {0};
    Recipe recipe;
    Work work = {0};
    PyObject *parts[6] = {NULL}, *indexed = NULL;
    terms_begin(self);
    if (table_open(&table, given) < 0 ||
        read_recipe(&recipe, fields, mixing, PyTuple_Size(texts)) < 0 ||
        read_texts(self, texts, &work) < 0 || add_fields(self, &recipe, b, &work) < 0 ||
        prepare_rows(self, given) < 0) {
        goto done;
    }
    parts[0] = vector_of(self, &table, &recipe, &work); /* before other Python may run */
    parts[1] = parts[0] == NULL ? NULL : names_of(self, work.terms, work.used);
    parts[2] = parts[1] == NULL ? NULL : impacts_of(&work, k1);
    parts[3] = parts[2] == NULL ? NULL : PyTuple_New(work.count);
    for (Py_ssize_t field = 0; parts[3] != NULL && field < work.count; field++) {
        PyObject *length = PyLong_FromSize_t(work.fields[field].length);
        if (length == NULL || PyTuple_SetItem(parts[3], field, length) < 0) {
            Py_CLEAR(parts[3]);
        }
    }
    if (parts[3] == NULL) {
        goto done;
    }
    const Counts *first = &work.fields[0], *last = &work.fields[work.count - 1];
    parts[4] = names_of(self, first->terms, first->count);
    parts[5] = parts[4] == NULL ? NULL : names_of(self, last->terms, last->count);
    if (parts[5] != NULL) {
        indexed = Py_BuildValue("(OOOOOO)", parts[1], parts[2], parts[0], parts[3], parts[4],
                              parts[5]);
    }
done:
    for (int part = 0; part < 6; part++) {
        Py_XDECREF(parts[part]);
    }
    table_close(&table);
    work_free(&work);
    terms_end(self);
    return indexed;
}
