/* Finds the words of a scan in a text, and the places around which each pattern is searched. */
#include "map.h"

#define MAX_GROUPS 4096
#define LONG_WORD 20
#define SPACED_LETTERS 8

typedef struct {
    PyObject_HEAD
    Map words; /* word -> its place in `starts` */
    size_t longest;
    Py_ssize_t groups, count;
    int32_t *starts, *members, *patterns; /* groups of each word; see the constructor */
    Py_ssize_t length; /* items of `patterns` */
} Words;

/* The words of a text, then where those of each group stand, in order. */
typedef struct {
    Py_ssize_t characters;
    int encoded, spaced; /* a long run of letters and digits; letters with blanks between them */
    int32_t *hits;  /* word and character, in turns */
    size_t used, room;
    int32_t *first, *places; /* of group g: places[first[g]] to places[first[g + 1]] */
} Places;

static const uint64_t WORD[4] = {0x03ff000000000000u, 0x07fffffe80000000u, UINT64_MAX, UINT64_MAX};

/* Quick rather than strong: the words are ours, so no text makes a search in them slow. */
static inline uint32_t hash_of(const char *word, size_t length)
{
    uint64_t first = 0, last = 0;
    if (length >= 8) {
        memcpy(&first, word, 8);
        memcpy(&last, word + length - 8, 8);
    } else if (length >= 4) {
        memcpy(&first, word, 4);
        memcpy(&last, word + length - 4, 4);
    } else {
        first = (unsigned char)word[0] | (unsigned char)word[length / 2] << 8;
        last = (unsigned char)word[length - 1];
    }
    uint64_t hash = (first ^ length) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(((hash ^ hash >> 29 ^ last) * 0xbf58476d1ce4e5b9u) >> 32);
}

/* Of text in lower case: digits, letters, "_", and every byte that is not ASCII. */
static inline int is_word(unsigned char byte)
{
    return (int)(WORD[byte >> 6] >> (byte & 63) & 1);
}

static int add_hit(Places *places, Py_ssize_t word, Py_ssize_t at)
{
    if (grow((void **)&places->hits, &places->room, places->used + 2, sizeof(int32_t)) < 0) {
        return -1;
    }
    places->hits[places->used++] = (int32_t)word;
    places->hits[places->used++] = (int32_t)at;
    return 0;
}

static size_t characters(const char *text, size_t length)
{
    size_t count = 0;
    while (length--) {
        count += (text[length] & 0xc0) != 0x80;
    }
    return count;
}

/* True for letters and digits with a digit. */
static int is_encoded(const char *word, size_t length)
{
    int digits = 0;
    for (; length && *word != '_'; word++, length--) {
        digits |= *word < 'a';
    }
    return digits && !length;
}

/* Collect the words of a text. Returns -1 with an error set. */
static int read_text(const Words *self, const char *text, size_t size, Places *places)
{
    Py_ssize_t at = 0;       /* characters before `place` */
    size_t gap = 0, run = 0; /* blanks since the last letter that stood alone, and such letters */
    for (size_t place = 0; place < size;) {
        unsigned char byte = (unsigned char)text[place];
        if (!is_word(byte)) {
            gap++;
            if (byte != ' ' && byte != '\t') {
                run = 0;
            }
            place++, at++;
            continue;
        }
        size_t start = place;
        Py_ssize_t before = at;
        unsigned char all = 0;
        do {
            all |= byte;
            byte = ++place < size ? (unsigned char)text[place] : ' ';
        } while (is_word(byte));
        size_t length = place - start;
        at += (Py_ssize_t)(all < 128 ? length : characters(text + start, length));
        if (length <= self->longest) {
            Py_ssize_t word = map_find(&self->words, text + start, length,
                                       hash_of(text + start, length));
            if (word >= 0 && add_hit(places, word, before) < 0) {
                return -1;
            }
        }
        places->encoded |= length >= LONG_WORD && all < 128 && is_encoded(text + start, length);
        if (at - before == 1) {
            run = gap <= 4 ? run + 1 : 1;
            places->spaced |= run >= SPACED_LETTERS;
        } else {
            run = 0;
        }
        gap = 0;
    }
    places->characters = at;
    return 0;
}

static int by_place(const void *one, const void *other)
{
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)other;
    return (a > b) - (a < b);
}

/* Sort the hits by groups. `ordered` items of them are in order of their places. */
static int sort_places(const Words *self, Places *places, size_t ordered)
{
    places->first = calloc((size_t)self->groups + 2, sizeof(int32_t));
    if (places->first == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    size_t all = 0;
    for (size_t item = 0; item < places->used; item += 2) {
        int32_t word = places->hits[item];
        for (int32_t m = self->starts[word]; m < self->starts[word + 1]; m++, all++) {
            places->first[self->members[m] + 2]++;
        }
    }
    places->places = all > INT32_MAX ? NULL : malloc((all + 1) * sizeof(int32_t));
    if (places->places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t group = 1; group < self->groups; group++) {
        places->first[group + 1] += places->first[group];
    }
    for (size_t item = 0; item < places->used; item += 2) { /* moves each start to its end */
        int32_t word = places->hits[item];
        for (int32_t m = self->starts[word]; m < self->starts[word + 1]; m++) {
            places->places[places->first[self->members[m] + 1]++] = places->hits[item + 1];
        }
    }
    for (Py_ssize_t group = 0; ordered < places->used && group < self->groups; group++) {
        qsort(places->places + places->first[group],
              (size_t)(places->first[group + 1] - places->first[group]), sizeof(int32_t), by_place);
    }
    return 0;
}

static inline int32_t count_of(const Places *places, int32_t group)
{
    return places->first[group + 1] - places->first[group];
}

/* True when a word of the group stands within `reach` of a place. */
static int is_near(const Places *places, int32_t group, int32_t place, int32_t reach)
{
    int32_t low = places->first[group], high = places->first[group + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (places->places[middle] < place - reach) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < places->first[group + 1] && places->places[low] <= place + reach;
}

static int append_window(PyObject *list, Py_ssize_t start, Py_ssize_t end)
{
    Py_ssize_t values[] = {start, end};
    int result = 0;
    for (int place = 0; place < 2 && result == 0; place++) {
        PyObject *number = PyLong_FromSsize_t(values[place]);
        result = number == NULL ? -1 : PyList_Append(list, number);
        Py_XDECREF(number);
    }
    return result;
}

/* Append the parts of the text in which a pattern is searched. */
static int add_windows(const Places *places, const int32_t *groups, int32_t count, int32_t reach,
                       PyObject *windows)
{
    if (count == 0 || groups[0] < 0) {
        return append_window(windows, 0, places->characters);
    }
    int32_t start = -1, end = -1;
    for (int32_t p = places->first[groups[0]]; p < places->first[groups[0] + 1]; p++) {
        int32_t place = places->places[p], near = 1;
        for (int32_t g = 1; near && g < count; g++) {
            near = groups[g] < 0 || is_near(places, groups[g], place, reach);
        }
        if (!near) {
            continue;
        }
        if (end < 0 || place - reach > end) {
            if (end >= 0 && append_window(windows, start, end) < 0) {
                return -1;
            }
            start = place > reach ? place - reach : 0;
        }
        end = place + reach + 1;
    }
    return end < 0 ? 0 : append_window(windows, start, end);
}

/* {number of a pattern: its windows}, a new dict. */
static PyObject *windows_of(const Words *self, const Places *places, int32_t kind)
{
    PyObject *all = PyDict_New();
    int32_t number = 0;
    for (const int32_t *pattern = self->patterns, *behind = pattern + self->length;
         all != NULL && pattern < behind; pattern += 3 + pattern[2], number++) {
        int32_t count = pattern[2], complete = pattern[0] & kind;
        const int32_t *groups = pattern + 3;
        for (int32_t g = 0; complete && g < count; g++) {
            complete = count_of(places, groups[g] < 0 ? ~groups[g] : groups[g]) > 0;
        }
        if (!complete) {
            continue;
        }
        PyObject *windows = PyList_New(0), *key = PyLong_FromLong(number);
        int failed = windows == NULL || key == NULL ||
                     add_windows(places, groups, count, pattern[1], windows) < 0 ||
                     (PyList_Size(windows) > 0 && PyDict_SetItem(all, key, windows) < 0);
        Py_XDECREF(windows);
        Py_XDECREF(key);
        if (failed) {
            Py_CLEAR(all);
        }
    }
    return all;
}

static PyObject *words_search(PyObject *object, PyObject *arguments)
{
    const Words *self = (const Words *)object;
    PyObject *text, *others;
    int kind;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "UiO!", &text, &kind, &PyList_Type, &others)) {
        return NULL;
    }
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (bytes == NULL) {
        return NULL;
    }
    if (size > INT32_MAX / 2) {
        PyErr_SetString(PyExc_OverflowError, "the text is too long");
        return NULL;
    }
    Places places = {0};
    PyObject *result = NULL, *present = NULL, *windows = NULL;
    if (read_text(self, bytes, (size_t)size, &places) < 0) {
        goto end;
    }
    size_t ordered = places.used;
    for (Py_ssize_t item = 0; item + 1 < PyList_Size(others); item += 2) {
        long long word, at;
        if (whole_at(others, item, &word) < 0 || whole_at(others, item + 1, &at) < 0) {
            goto end;
        }
        if (word < 0 || word >= self->count || at < 0 || at > size) {
            PyErr_SetString(PyExc_ValueError, "no such word or place");
            goto end;
        }
        if (add_hit(&places, (Py_ssize_t)word, (Py_ssize_t)at) < 0) {
            goto end;
        }
    }
    if (sort_places(self, &places, ordered) < 0) {
        goto end;
    }
    present = PyBytes_FromStringAndSize(NULL, self->groups);
    if (present == NULL) {
        goto end;
    }
    for (Py_ssize_t group = 0; group < self->groups; group++) {
        PyBytes_AsString(present)[group] = count_of(&places, (int32_t)group) > 0;
    }
    windows = windows_of(self, &places, kind);
    if (windows != NULL) {
        result = PyTuple_Pack(4, windows, present, places.encoded ? Py_True : Py_False,
                              places.spaced ? Py_True : Py_False);
    }
end:
    Py_XDECREF(present);
    Py_XDECREF(windows);
    free(places.hits);
    free(places.first);
    free(places.places);
    return result;
}

static void words_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    Words *self = (Words *)object;
    map_free(&self->words);
    free(self->starts);
    free(self->members);
    free(self->patterns);
    release(object);
    Py_DECREF(type);
}

/* A copy of a buffer of int32, with its length. */
static int32_t *copied(PyObject *source, Py_ssize_t *length)
{
    Py_buffer view;
    if (view_of(source, &view, sizeof(int32_t), PyBUF_ND) < 0) {
        return NULL;
    }
    int32_t *copy = malloc((size_t)view.len + 1);
    if (copy == NULL) {
        PyErr_NoMemory();
    } else {
        memcpy(copy, view.buf, (size_t)view.len);
        *length = items_of(&view);
    }
    PyBuffer_Release(&view);
    return copy;
}

static int are_sound(const Words *self, Py_ssize_t starts, Py_ssize_t members)
{
    int sound = self->groups >= 0 && self->groups <= MAX_GROUPS && starts == self->count + 1 &&
                self->starts[0] == 0 && self->starts[self->count] == members;
    for (Py_ssize_t word = 0; sound && word < self->count; word++) {
        sound = self->starts[word] <= self->starts[word + 1];
    }
    for (Py_ssize_t m = 0; sound && m < members; m++) {
        sound = self->members[m] >= 0 && self->members[m] < self->groups;
    }
    Py_ssize_t place = 0;
    while (sound && place < self->length) {
        const int32_t *pattern = self->patterns + place;
        Py_ssize_t left = self->length - place - 3;
        sound = left >= 0 && pattern[1] >= 0 && pattern[1] <= UINT16_MAX && pattern[2] >= 0 &&
                pattern[2] <= left;
        for (int32_t g = 0; sound && g < pattern[2]; g++) {
            int32_t group = pattern[3 + g];
            sound = (group < 0 ? ~group : group) < self->groups;
        }
        place += sound ? 3 + pattern[2] : 0;
    }
    return sound;
}

static PyObject *words_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    PyObject *words, *starts, *members, *patterns;
    Py_ssize_t groups, start_count = 0, member_count = 0;
    if (!PyArg_ParseTuple(arguments, "O!nOOO", &PyList_Type, &words, &groups, &starts, &members,
                          &patterns)) {
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Words *self = (Words *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    static const uint64_t seed[2] = {0};
    map_start(&self->words, seed);
    self->groups = groups;
    self->count = PyList_Size(words);
    if ((self->starts = copied(starts, &start_count)) == NULL ||
        (self->members = copied(members, &member_count)) == NULL ||
        (self->patterns = copied(patterns, &self->length)) == NULL) {
        goto failed;
    }
    if (!are_sound(self, start_count, member_count)) {
        PyErr_SetString(PyExc_ValueError, "the groups and patterns do not fit each other");
        goto failed;
    }
    for (Py_ssize_t number = 0; number < self->count; number++) {
        char *word;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyList_GetItem(words, number), &word, &length) < 0) {
            goto failed;
        }
        if (length == 0) {
            PyErr_SetString(PyExc_ValueError, "a word is empty");
            goto failed;
        }
        uint32_t hash = hash_of(word, (size_t)length);
        if (map_find(&self->words, word, (size_t)length, hash) >= 0) {
            PyErr_SetString(PyExc_ValueError, "a word stands twice");
            goto failed;
        }
        if (map_add(&self->words, word, (size_t)length, hash, 0) < 0) {
            goto failed;
        }
        self->longest = (size_t)length > self->longest ? (size_t)length : self->longest;
    }
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

PyDoc_STRVAR(search_doc,
"search(text, kind, others)\n\n"
"(windows of each pattern, present groups, has encoded text, has letters with blanks between them)\n"
"of a text in lower case. `others` are further places of words: word and character, in turns.");

static PyMethodDef words_methods[] = {
    {"search", words_search, METH_VARARGS, search_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(words_doc,
"Words(words, groups, starts, members, patterns)\n\n"
"The groups of word w are members[starts[w]:starts[w + 1]]. A pattern: kinds, reach, count of\n"
"groups, groups. ~g is a group that may stand anywhere; see skillyard.check.scanning.words.");

static PyType_Slot words_slots[] = {
    {Py_tp_new, words_new},
    {Py_tp_dealloc, words_dealloc},
    {Py_tp_methods, words_methods},
    {Py_tp_doc, (void *)words_doc},
    {0, NULL},
};

PyType_Spec words_spec = {
    "skillyard.engine.index._kernel.Words", sizeof(Words), 0, Py_TPFLAGS_DEFAULT, words_slots,
};
