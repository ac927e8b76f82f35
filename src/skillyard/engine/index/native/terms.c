/* Text to terms, as skillyard.engine.analysis.analyzer.STANDARD gives them, and their counts.
 *
 * Caches hold the terms of tokens and the stems of words between texts. Tokens of other scripts are
 * passed to Python once each. Python may call back into this object, so no pointer into a map is
 * kept across such a call.
 */
#include "terms.h"

#define NO_TERM UINT32_MAX
#define LONGEST_SURFACE 64 /* bytes; longer ones are not cached */
#define LONGEST_WORD 64    /* bytes; more than any term has */
#define AHEAD 12           /* tokens prefetched ahead */

enum { WORD = 1, UPPER = 2, LOWER = 4, DIGIT = 8, JOINER = 16 };
/* What a surface holds. */
enum { FOREIGN = 1, DENSE = 2, OTHER = 4 };

static uint8_t kinds[128];

void terms_prepare(void)
{
    for (int c = 0; c < 128; c++) {
        kinds[c] = (uint8_t)(c >= 'A' && c <= 'Z'   ? WORD | UPPER
                             : c >= 'a' && c <= 'z' ? WORD | LOWER
                             : c >= '0' && c <= '9' ? WORD | DIGIT
                             : c == '_'             ? WORD | JOINER
                             : c == '-' || c == '.' || c == '\'' ? JOINER
                                                                 : 0);
    }
}

static inline int kind(char c)
{
    return (unsigned char)c < 128 ? kinds[(unsigned char)c] : 0;
}

static inline char lower(char c)
{
    return (char)(kind(c) & UPPER ? c + 32 : c);
}

static inline int is_ascii(const char *text, size_t length)
{
    for (size_t place = 0; place < length; place++) {
        if ((unsigned char)text[place] >= 128) {
            return 0;
        }
    }
    return 1;
}

static int push(Ids *ids, uint32_t id)
{
    if (grow((void **)&ids->items, &ids->room, ids->count + 1, sizeof(uint32_t)) < 0) {
        return -1;
    }
    ids->items[ids->count++] = id;
    return 0;
}

/* ---- characters ---- */

/* Decode one character of UTF-8 that CPython wrote. */
static inline uint32_t decoded(const char *text, int *length)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0xe0) {
        *length = 2;
        return (uint32_t)(c[0] & 0x1f) << 6 | (c[1] & 0x3f);
    }
    if (c[0] < 0xf0) {
        *length = 3;
        return (uint32_t)(c[0] & 0x0f) << 12 | (uint32_t)(c[1] & 0x3f) << 6 | (c[2] & 0x3f);
    }
    *length = 4;
    return (uint32_t)(c[0] & 0x07) << 18 | (uint32_t)(c[1] & 0x3f) << 12 |
           (uint32_t)(c[2] & 0x3f) << 6 | (c[3] & 0x3f);
}

/* Characters of scripts written without blanks that every step before the pairs leaves alone: each
 * is its own compatibility form, composes with nothing before it, and has no case. */
static inline int is_dense(uint32_t code)
{
    return (code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3400 && code <= 0x4dbf) ||
           (code >= 0x3041 && code <= 0x3096) || (code >= 0x30a1 && code <= 0x30fa) ||
           code == 0x30fc || (code >= 0xac00 && code <= 0xd7a3);
}

static int load_page(Terms *self, uint32_t number)
{
    PyObject *page = PyObject_CallFunction(self->page_of, "I", (unsigned int)number);
    if (page == NULL) {
        return -1;
    }
    char *bits;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(page, &bits, &length) < 0 || length != 32) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "a page has 32 bytes");
        }
        Py_DECREF(page);
        return -1;
    }
    if (self->pages[number] == NULL) { /* else another call was first */
        uint8_t *copy = malloc(32);
        if (copy == NULL) {
            PyErr_NoMemory();
            Py_DECREF(page);
            return -1;
        }
        memcpy(copy, bits, 32);
        self->pages[number] = copy;
    }
    Py_DECREF(page);
    return 0;
}

/* Bytes of the character of a word that starts here, 0 for none; -1 with an error set. */
static inline int word_at(Terms *self, const char *at, const char *end, int *holds)
{
    if (at >= end) {
        return 0;
    }
    if ((unsigned char)*at < 128) {
        return kinds[(unsigned char)*at] & WORD;
    }
    int length;
    uint32_t code = decoded(at, &length);
    if (self->pages[code >> 8] == NULL && load_page(self, code >> 8) < 0) {
        return -1;
    }
    if (!(self->pages[code >> 8][(code & 255) >> 3] >> (code & 7) & 1)) {
        return 0;
    }
    *holds |= FOREIGN | (is_dense(code) ? DENSE : OTHER);
    return length;
}

static inline int is_apostrophe(const char *at, const char *end)
{
    return end - at >= 3 && memcmp(at, "\xe2\x80\x99", 3) == 0;
}

/* ---- words to terms ---- */

static int64_t intern(Terms *self, const char *text, size_t length)
{
    uint32_t hash = map_hash(&self->terms, text, length);
    Py_ssize_t place = map_find(&self->terms, text, length, hash);
    if (place >= 0) {
        return place;
    }
    size_t count = self->terms.used + 1;
    if (grow((void **)&self->names, &self->name_room, count, sizeof(PyObject *)) < 0) {
        return -2;
    }
    size_t before = self->place_room;
    if (grow((void **)&self->places, &self->place_room, count, sizeof(uint32_t)) < 0) {
        return -2;
    }
    if (self->place_room > before) {
        memset(self->places + before, 0, (self->place_room - before) * sizeof(uint32_t));
    }
    PyObject *name = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogatepass");
    if (name == NULL) {
        return -2;
    }
    place = map_add(&self->terms, text, length, hash, 0);
    if (place < 0) {
        Py_DECREF(name);
        return -2;
    }
    self->names[place] = name;
    return place;
}

static int64_t intern_str(Terms *self, PyObject *term)
{
    if (!PyUnicode_CheckExact(term)) {
        PyErr_SetString(PyExc_TypeError, "a term is no str");
        return -2;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(term, "utf-8", "surrogatepass");
    if (bytes == NULL) {
        return -2;
    }
    int64_t id = intern(self, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
    Py_DECREF(bytes);
    return id;
}

/* What is left to do with an ASCII word in lower case: stop, stem. -1 for none, -2 for an error. */
static int64_t finish(Terms *self, const char *word, size_t length)
{
    if (length == 0 || length > self->longest_term) {
        return -1;
    }
    uint32_t hash = map_hash(&self->words, word, length);
    Py_ssize_t known = map_find(&self->words, word, length, hash);
    if (known >= 0) {
        uint32_t id = self->words.entries[known].value;
        return id == NO_TERM ? -1 : (int64_t)id;
    }
    int all = DIGIT | LOWER;
    for (size_t place = 0; place < length; place++) {
        all &= kind(word[place]);
    }
    int64_t id = -1;
    if (map_find(&self->stops, word, length, map_hash(&self->stops, word, length)) < 0 &&
        !(all & DIGIT && length > 4)) {
        if (all & LOWER && length >= self->shortest_stemmed) {
            PyObject *text = PyUnicode_FromStringAndSize(word, (Py_ssize_t)length), *stem = NULL;
            if (text != NULL) {
                stem = PyObject_CallFunctionObjArgs(self->stem, text, NULL);
                Py_DECREF(text);
            }
            id = stem == NULL ? -2 : intern_str(self, stem);
            Py_XDECREF(stem);
        } else {
            id = intern(self, word, length);
        }
    }
    if (id == -2) {
        return -2;
    }
    if (map_find(&self->words, word, length, hash) < 0 &&
        map_add(&self->words, word, length, hash, id < 0 ? NO_TERM : (uint32_t)id) < 0) {
        return -2;
    }
    return id;
}

/* Finish an ASCII word in any case; canonical says that its canonical form stands for it. */
static int take(Terms *self, const char *word, size_t length, int canonical, Ids *ids)
{
    char small[LONGEST_WORD];
    if (length > self->longest_term) { /* nothing canonical is as long */
        return 0;
    }
    for (size_t place = 0; place < length; place++) {
        small[place] = lower(word[place]);
    }
    if (canonical) {
        uint32_t hash = map_hash(&self->technical, small, length);
        Py_ssize_t known = map_find(&self->technical, small, length, hash);
        if (known >= 0) {
            const Entry *entry = &self->canonical.entries[self->technical.entries[known].value];
            length = entry->length;
            memcpy(small, map_key(&self->canonical, entry), length);
        }
    }
    int64_t id = finish(self, small, length);
    if (id >= 0) {
        return push(ids, (uint32_t)id);
    }
    return id == -1 ? 0 : -1;
}

/* The next part of a compound: see _PART in skillyard.engine.analysis.filters. */
static int next_part(const char *text, size_t length, size_t *place, size_t *from)
{
    size_t at = *place;
    while (at < length && !(kind(text[at]) & (UPPER | LOWER | DIGIT))) {
        at++;
    }
    if (at == length) {
        return 0;
    }
    *from = at;
    if (kind(text[at]) & DIGIT) {
        while (at < length && kind(text[at]) & DIGIT) {
            at++;
        }
        size_t letters = 0;
        while (letters < 3 && at + letters < length && kind(text[at + letters]) & LOWER) {
            letters++;
        }
        *place = letters < 3 ? at + letters : at;
        return 1;
    }
    while (at < length && kind(text[at]) & UPPER) {
        at++;
    }
    if (at - *from > 1 && at < length && kind(text[at]) & LOWER) {
        *place = at - 1; /* the HTTP of HTTPServer */
        return 1;
    }
    while (at < length && kind(text[at]) & LOWER) {
        at++;
    }
    while (at < length && kind(text[at]) & DIGIT) {
        at++;
    }
    *place = at;
    return 1;
}

/* Take every part of a compound, the whole of a short one, and the words before numbers. */
static int take_parts(Terms *self, const char *text, size_t length, char *whole, Ids *ids)
{
    size_t place = 0, from, parts = 0, joined = 0;
    int any_alpha = 0;
    while (next_part(text, length, &place, &from)) {
        if (take(self, text + from, place - from, 1, ids) < 0) {
            return -1;
        }
        int alpha = 1;
        for (size_t each = from; each < place; each++) {
            alpha = alpha && !(kind(text[each]) & DIGIT);
        }
        any_alpha |= alpha;
        if (++parts <= self->longest_whole) {
            memcpy(whole + joined, text + from, place - from);
            joined += place - from;
        }
    }
    if (parts > 1 && parts <= self->longest_whole && any_alpha &&
        take(self, whole, joined, 1, ids) < 0) {
        return -1;
    }
    for (place = 0; next_part(text, length, &place, &from);) {
        size_t letters = from;
        while (letters < place && kind(text[letters]) & (UPPER | LOWER)) {
            letters++;
        }
        if (letters - from >= 3 && letters < place &&
            take(self, text + from, letters - from, 0, ids) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Drop the s of PRs and PDFs: see _PLURAL in skillyard.engine.analysis.filters. */
static size_t without_plurals(char *text, size_t length)
{
    size_t size = 0;
    int upper = 0; /* capitals before this place */
    for (size_t place = 0; place < length; place++) {
        char letter = text[place];
        int follows = place + 1 < length && kind(text[place + 1]) & (UPPER | LOWER);
        if (letter != 's' || upper < 2 || follows) {
            text[size++] = letter;
        }
        upper = kind(letter) & UPPER ? upper + 1 : 0;
    }
    return size;
}

static int ascii_surface(Terms *self, const char *text, size_t length, Ids *ids)
{
    int all = LOWER;
    for (size_t place = 0; place < length; place++) {
        all &= kind(text[place]);
    }
    if (all || length <= self->longest_term) {
        /* A name that is known as a whole, or one that stands for others, is not taken apart. */
        char small[LONGEST_WORD];
        for (size_t place = 0; place < length && place < LONGEST_WORD; place++) {
            small[place] = lower(text[place]);
        }
        size_t size = length < LONGEST_WORD ? length : LONGEST_WORD;
        if (all || map_find(&self->technical, small, size,
                            map_hash(&self->technical, small, size)) >= 0 ||
            map_find(&self->canonical, text, length,
                     map_hash(&self->canonical, text, length)) >= 0) {
            return take(self, text, length, 1, ids);
        }
    }
    if (length >= 2 && text[length - 2] == '\'' && lower(text[length - 1]) == 's') {
        length -= 2;
    } else if (length >= 3 && (memcmp(text + length - 3, "n't", 3) == 0 ||
                               memcmp(text + length - 3, "N'T", 3) == 0)) {
        return 0;
    }
    char *bare = malloc(2 * length + 2);
    if (bare == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    size_t size = 0;
    for (size_t place = 0; place < length; place++) {
        if (text[place] != '\'') {
            bare[size++] = text[place];
        }
    }
    size = without_plurals(bare, size);
    int result = take_parts(self, bare, size, bare + length + 1, ids);
    free(bare);
    return result;
}

/* ---- scripts written without blanks ---- */

static int take_run(Terms *self, const char *run, size_t length, int dense, Ids *ids)
{
    if (!dense) {
        return take(self, run, length, 0, ids);
    }
    size_t first = 0, second, third;
    second = (unsigned char)run[0] < 128 ? 1 : 3;
    if (second == length) {
        int64_t id = intern(self, run, length);
        return id < 0 ? -1 : push(ids, (uint32_t)id);
    }
    for (; second < length; first = second, second = third) {
        third = second + ((unsigned char)run[second] < 128 ? 1 : 3);
        size_t size = third - first;
        if (size == 2) { /* two digits, say */
            if (take(self, run + first, size, 0, ids) < 0) {
                return -1;
            }
            continue;
        }
        int64_t id = intern(self, run + first, size);
        if (id < 0 || push(ids, (uint32_t)id) < 0) {
            return -1;
        }
    }
    return 0;
}

/* One piece between joiners: taken apart where its script changes. */
static int take_piece(Terms *self, const char *text, size_t length, Ids *ids)
{
    enum { NOTHING, SIGNS, LATIN, HAN, HANGUL };
    if (is_ascii(text, length)) {
        return take(self, text, length, 0, ids);
    }
    size_t start = 0, place = 0;
    int current = NOTHING;
    while (place < length) {
        size_t size = (unsigned char)text[place] < 128 ? 1 : 3;
        int here = current;
        if (size == 3) {
            here = (unsigned char)text[place] < 0xea ? HAN : HANGUL;
        } else if (!(kind(text[place]) & DIGIT) || current == NOTHING) {
            here = text[place] >= 'A' ? LATIN : current == NOTHING ? SIGNS : current;
        }
        if (here != current && current != NOTHING) {
            if (take_run(self, text + start, place - start, current >= HAN, ids) < 0) {
                return -1;
            }
            start = place;
        }
        current = here;
        place += size;
    }
    return take_run(self, text + start, length - start, current >= HAN, ids);
}

static int dense_surface(Terms *self, const char *text, size_t length, Ids *ids)
{
    char *whole = malloc(length + 1);
    if (whole == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    const char *end = text + length;
    size_t size = 0, pieces = 0;
    int result = 0;
    for (const char *at = text; at < end && result == 0;) {
        if (kind(*at) & JOINER) {
            at++;
        } else if (is_apostrophe(at, end)) {
            at += 3;
        } else {
            const char *from = at;
            while (at < end && !(kind(*at) & JOINER) && !is_apostrophe(at, end)) {
                at++;
            }
            result = take_piece(self, from, (size_t)(at - from), ids);
            memcpy(whole + size, from, (size_t)(at - from));
            size += (size_t)(at - from);
            pieces++;
        }
    }
    if (result == 0 && pieces > 1) {
        result = take_piece(self, whole, size, ids);
    }
    free(whole);
    return result;
}

/* ---- the Python beside this ---- */

static int other_surface(Terms *self, const char *text, size_t length, Ids *ids)
{
    PyObject *surface = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogatepass");
    if (surface == NULL) {
        return -1;
    }
    PyObject *terms = PyObject_CallFunctionObjArgs(self->chain, surface, NULL);
    Py_DECREF(surface);
    if (terms == NULL) {
        return -1;
    }
    int result = 0;
    if (!PyTuple_Check(terms)) {
        PyErr_SetString(PyExc_TypeError, "the terms of a surface are no tuple");
        result = -1;
    }
    for (Py_ssize_t place = 0; result == 0 && place < PyTuple_Size(terms); place++) {
        int64_t id = intern_str(self, PyTuple_GetItem(terms, place));
        result = id < 0 ? -1 : push(ids, (uint32_t)id);
    }
    Py_DECREF(terms);
    return result;
}

/* ---- surfaces ---- */

static int remember(Terms *self, const char *text, size_t length, uint32_t hash, const Ids *ids,
                    size_t from)
{
    size_t count = ids->count - from;
    if (self->surfaces.used >= self->most || self->listed + count + 1 > UINT32_MAX ||
        map_find(&self->surfaces, text, length, hash) >= 0) {
        return 0;
    }
    if (grow((void **)&self->lists, &self->list_room, self->listed + count + 1,
             sizeof(uint32_t)) < 0 ||
        map_add(&self->surfaces, text, length, hash, (uint32_t)self->listed) < 0) {
        return -1;
    }
    self->lists[self->listed] = (uint32_t)count;
    if (count) {
        memcpy(self->lists + self->listed + 1, ids->items + from, count * sizeof(uint32_t));
    }
    self->listed += count + 1;
    return 0;
}

/* True for a surface whose terms are remembered. Phrases of a script without blanks are not: each
 * of them is another one. */
static inline int is_kept(const Surface *surface)
{
    return surface->length <= LONGEST_SURFACE && (surface->holds & (DENSE | OTHER)) != DENSE;
}

static int take_surface(Terms *self, const char *text, const Surface *surface, Ids *ids)
{
    size_t length = surface->length, from = ids->count;
    text += surface->start;
    Py_ssize_t known =
        is_kept(surface) ? map_find(&self->surfaces, text, length, surface->hash) : -1;
    if (known >= 0) {
        const uint32_t *list = self->lists + self->surfaces.entries[known].value;
        if (grow((void **)&ids->items, &ids->room, from + list[0], sizeof(uint32_t)) < 0) {
            return -1;
        }
        for (uint32_t place = 1; place <= list[0]; place++) {
            ids->items[ids->count++] = list[place];
        }
        return 0;
    }
    int result = surface->holds & OTHER     ? other_surface(self, text, length, ids)
                 : surface->holds & FOREIGN ? dense_surface(self, text, length, ids)
                                            : ascii_surface(self, text, length, ids);
    if (result < 0 || !is_kept(surface)) {
        return result;
    }
    return remember(self, text, length, surface->hash, ids, from);
}

/* Find the end of the surface that starts here; see _SURFACE in skillyard.engine.analysis.analyzer. */
static const char *surface_end(Terms *self, const char *at, const char *end, int *holds)
{
    for (;;) {
        int size;
        while ((size = word_at(self, at, end, holds)) > 0) {
            at += size;
        }
        if (size < 0) {
            return NULL;
        }
        int joiner = at < end && (*at == '-' || *at == '.' || *at == '\'') ? 1
                     : is_apostrophe(at, end)                               ? 3
                                                                            : 0;
        size = joiner ? word_at(self, at + joiner, end, holds) : 0;
        if (size < 0) {
            return NULL;
        }
        if (size == 0) {
            break;
        }
        *holds |= joiner == 3 ? FOREIGN : 0;
        at += joiner + size;
    }
    if (at < end && *at == '#') {
        return at + 1;
    }
    return end - at >= 2 && at[0] == '+' && at[1] == '+' ? at + 2 : at;
}

/* Find the surfaces of a text in UTF-8. Returns -1 with an error set. */
static int surfaces_of(Terms *self, const char *text, size_t length, Surfaces *surfaces)
{
    const char *at = text, *end = text + length;
    while (at < end) {
        Surface surface = {(size_t)(at - text), 0, 0, 0};
        int first = *at == '.' ? 1 : 0;
        int size = word_at(self, at + first, end, &surface.holds);
        if (size == 0) {
            at++;
            while (at < end && ((unsigned char)*at & 0xc0) == 0x80) {
                at++; /* the rest of a character */
            }
            continue;
        }
        at = size < 0 ? NULL : surface_end(self, at + first, end, &surface.holds);
        if (at == NULL || grow((void **)&surfaces->items, &surfaces->room, surfaces->count + 1,
                               sizeof(Surface)) < 0) {
            return -1;
        }
        surface.length = (size_t)(at - text) - surface.start;
        if (is_kept(&surface)) {
            surface.hash = map_hash(&self->surfaces, text + surface.start, surface.length);
        }
        surfaces->items[surfaces->count++] = surface;
    }
    return 0;
}

int terms_of(Terms *self, PyObject *text, Ids *ids)
{
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a text is no str");
        return -1;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (bytes == NULL) {
        return -1;
    }
    Surfaces surfaces = {0};
    const char *start = PyBytes_AsString(bytes);
    int result = surfaces_of(self, start, (size_t)PyBytes_Size(bytes), &surfaces);
    for (size_t place = 0; result == 0 && place < surfaces.count; place++) {
        if (place + AHEAD < surfaces.count) { /* they lie all over the memory */
            map_fetch_slot(&self->surfaces, surfaces.items[place + AHEAD].hash);
            map_fetch_entry(&self->surfaces, surfaces.items[place + AHEAD / 2].hash);
        }
        result = take_surface(self, start, &surfaces.items[place], ids);
    }
    free(surfaces.items);
    Py_DECREF(bytes);
    return result;
}

int count_ids(Terms *self, const Ids *ids, Counts *counts)
{
    int result = 0;
    counts->count = 0;
    counts->length = ids->count;
    for (size_t place = 0; place < ids->count; place++) {
        uint32_t id = ids->items[place], seen = self->places[id];
        if (seen) {
            counts->numbers[seen - 1]++;
            continue;
        }
        size_t count = counts->count + 1;
        if (grow((void **)&counts->terms, &counts->room, count, sizeof(uint32_t)) < 0 ||
            grow((void **)&counts->numbers, &counts->number_room, count, sizeof(uint32_t)) < 0) {
            result = -1;
            break;
        }
        counts->terms[count - 1] = id;
        counts->numbers[count - 1] = 1;
        counts->count = count;
        self->places[id] = (uint32_t)count;
    }
    for (size_t place = 0; place < counts->count; place++) {
        self->places[counts->terms[place]] = 0;
    }
    return result;
}

void counts_free(Counts *counts)
{
    free(counts->terms);
    free(counts->numbers);
}

/* ---- the object ---- */

static void forget_surfaces(Terms *self)
{
    map_free(&self->surfaces);
    free(self->lists);
    self->lists = NULL;
    self->listed = self->list_room = 0;
}

static void forget(Terms *self)
{
    for (size_t place = 0; place < self->terms.used; place++) {
        Py_DECREF(self->names[place]);
    }
    forget_surfaces(self);
    map_free(&self->words);
    map_free(&self->terms);
    free(self->names);
    free(self->places);
    free(self->rows);
    self->names = NULL;
    self->places = NULL;
    self->rows = NULL;
    self->name_room = self->place_room = self->row_room = 0;
}

void terms_begin(Terms *self)
{
    if (self->surfaces.used >= self->most) {
        forget_surfaces(self);
    }
    /* A call at work holds numbers of terms. */
    if (self->active == 0 && (self->words.used >= 2 * self->most ||
                              self->terms.used >= 2 * self->most)) {
        forget(self);
    }
    self->active++;
}

void terms_end(Terms *self)
{
    self->active--;
}

const char counts_doc[] = PyDoc_STR(
"counts(text) -> dict\n\n"
"How often each term stands in the text, by first sight; see Analyzer.counts.");

static PyObject *terms_counts(PyObject *object, PyObject *text)
{
    Terms *self = (Terms *)object;
    Ids ids = {0};
    Counts counts = {0};
    PyObject *by_term = NULL;
    terms_begin(self);
    if (terms_of(self, text, &ids) < 0 || count_ids(self, &ids, &counts) < 0) {
        goto done;
    }
    by_term = PyDict_New();
    for (size_t place = 0; by_term != NULL && place < counts.count; place++) {
        PyObject *number = PyLong_FromUnsignedLong(counts.numbers[place]);
        if (number == NULL || PyDict_SetItem(by_term, self->names[counts.terms[place]], number) < 0) {
            Py_CLEAR(by_term);
        }
        Py_XDECREF(number);
    }
done:
    free(ids.items);
    counts_free(&counts);
    terms_end(self);
    return by_term;
}

static void terms_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    Terms *self = (Terms *)object;
    forget(self);
    map_free(&self->technical);
    map_free(&self->canonical);
    map_free(&self->stops);
    for (size_t page = 0; page < PAGES; page++) {
        free(self->pages[page]);
    }
    Py_XDECREF(self->chain);
    Py_XDECREF(self->stem);
    Py_XDECREF(self->page_of);
    Py_XDECREF(self->table);
    release(object);
    Py_DECREF(type);
}

/* Add a word of the tables, short and ASCII, unless it is there; return its place, or -1. */
static Py_ssize_t listed_word(Map *map, PyObject *word, size_t longest, uint32_t value)
{
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(word, &length);
    if (text == NULL) {
        return -1;
    }
    if (length == 0 || (size_t)length > longest || !is_ascii(text, (size_t)length)) {
        PyErr_SetString(PyExc_ValueError, "the words of the tables are short and ASCII");
        return -1;
    }
    uint32_t hash = map_hash(map, text, (size_t)length);
    Py_ssize_t place = map_find(map, text, (size_t)length, hash);
    return place >= 0 ? place : map_add(map, text, (size_t)length, hash, value);
}

static int read_tables(Terms *self, PyObject *technical, PyObject *stops)
{
    PyObject *key, *value;
    for (Py_ssize_t place = 0; PyDict_Next(technical, &place, &key, &value);) {
        Py_ssize_t canonical = listed_word(&self->canonical, value, self->longest_term, 0);
        if (canonical < 0 || listed_word(&self->technical, key, self->longest_term,
                                         (uint32_t)canonical) < 0) {
            return -1;
        }
    }
    for (Py_ssize_t place = 0; place < PyTuple_Size(stops); place++) {
        if (listed_word(&self->stops, PyTuple_GetItem(stops, place), self->longest_term, 0) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *terms_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    PyObject *chain, *stem, *page_of, *technical, *stops, *given;
    Py_ssize_t longest, whole, shortest, most;
    char *seed_bytes;
    Py_ssize_t seed_length;
    uint64_t seed[2];
    /* No "y#": built with the headers of 3.13, it does not run on 3.11 and 3.12. */
    if (!PyArg_ParseTuple(arguments, "OOOO!O!nnnnO", &chain, &stem, &page_of, &PyDict_Type,
                          &technical, &PyTuple_Type, &stops, &longest, &whole, &shortest, &most,
                          &given) ||
        PyBytes_AsStringAndSize(given, &seed_bytes, &seed_length) < 0) {
        return NULL;
    }
    if (longest < 1 || longest > LONGEST_WORD || whole < 0 || shortest < 0 || most < 1 ||
        most > 1 << 28 || seed_length != sizeof seed) {
        PyErr_SetString(PyExc_ValueError, "a bound is out of range");
        return NULL;
    }
    memcpy(seed, seed_bytes, sizeof seed);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Terms *self = (Terms *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->longest_term = (size_t)longest;
    self->longest_whole = (size_t)whole;
    self->shortest_stemmed = (size_t)shortest;
    self->most = (size_t)most;
    self->chain = Py_NewRef(chain);
    self->stem = Py_NewRef(stem);
    self->page_of = Py_NewRef(page_of);
    Map *maps[] = {&self->technical, &self->canonical, &self->stops,
                   &self->surfaces,  &self->words,     &self->terms};
    for (size_t place = 0; place < sizeof maps / sizeof *maps; place++) {
        map_start(maps[place], seed);
    }
    if (read_tables(self, technical, stops) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef terms_methods[] = {
    {"counts", terms_counts, METH_O, counts_doc},
    {"index_text", terms_index_text, METH_VARARGS, index_text_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(terms_doc,
"Terms(chain, stem, page_of, technical, stops, longest, whole, shortest, most, seed)\n\n"
"The analyzer's chain with what it remembers; see skillyard.engine.index.document_builder.");

static PyType_Slot terms_hash_slots[] = {
    {Py_tp_new, terms_new},
    {Py_tp_dealloc, terms_dealloc},
    {Py_tp_methods, terms_methods},
    {Py_tp_doc, (void *)terms_doc},
    {0, NULL},
};

PyType_Spec terms_spec = {
    "skillyard.engine.index._kernel.Terms", sizeof(Terms), 0, Py_TPFLAGS_DEFAULT, terms_hash_slots,
};
