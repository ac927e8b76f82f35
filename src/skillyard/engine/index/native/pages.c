/* Checksums: CRC-32 as in zlib, and the verification of pages. */
#include "kernel.h"

/* On x86-64 with carry-less multiplication 64 bytes are folded at once; the
 * processor is checked at start-up. The constants are powers of x modulo the polynomial, bits reversed, from
 * "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Gopal et al., 2009). */
#if defined(__GNUC__) && defined(__x86_64__)
#define HAVE_FOLDING 1
#include <immintrin.h>
#else
#define HAVE_FOLDING 0
#endif

#define POLYNOMIAL 0xedb88320u

static uint32_t tables[8][256];

void crc_prepare(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++) {
            value = value >> 1 ^ (value & 1 ? POLYNOMIAL : 0);
        }
        tables[0][byte] = value;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int table = 1; table < 8; table++) {
            uint32_t before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][before & 255];
        }
    }
}

/* Take bytes into a checksum that is being worked on. */
static uint32_t take_in(uint32_t check, const uint8_t *bytes, size_t count)
{
    for (; count >= 8; count -= 8, bytes += 8) {
        check = tables[7][(check ^ bytes[0]) & 255] ^ tables[6][(check >> 8 ^ bytes[1]) & 255] ^
                tables[5][(check >> 16 ^ bytes[2]) & 255] ^ tables[4][(check >> 24) ^ bytes[3]] ^
                tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^
                tables[0][bytes[7]];
    }
    for (; count; count--, bytes++) {
        check = check >> 8 ^ tables[0][(check ^ *bytes) & 255];
    }
    return check;
}

#if HAVE_FOLDING
__attribute__((target("pclmul,sse2")))
static inline __m128i folded(__m128i value, __m128i by, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(value, by, 0x00);
    __m128i high = _mm_clmulepi64_si128(value, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* The same for at least 64 bytes, a multiple of 16. */
__attribute__((target("pclmul,sse2")))
static uint32_t fold_in(uint32_t check, const uint8_t *bytes, size_t count)
{
    const __m128i *from = (const __m128i *)bytes;
    const __m128i by_four = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i by_one = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i one = _mm_xor_si128(_mm_loadu_si128(from), _mm_cvtsi32_si128((int)check));
    __m128i two = _mm_loadu_si128(from + 1), three = _mm_loadu_si128(from + 2);
    __m128i four = _mm_loadu_si128(from + 3);
    for (from += 4, count -= 64; count >= 64; from += 4, count -= 64) {
        one = folded(one, by_four, _mm_loadu_si128(from));
        two = folded(two, by_four, _mm_loadu_si128(from + 1));
        three = folded(three, by_four, _mm_loadu_si128(from + 2));
        four = folded(four, by_four, _mm_loadu_si128(from + 3));
    }
    one = folded(folded(folded(one, by_one, two), by_one, three), by_one, four);
    for (; count >= 16; from++, count -= 16) {
        one = folded(one, by_one, _mm_loadu_si128(from));
    }
    uint8_t rest[16];
    _mm_storeu_si128((__m128i *)rest, one);
    return take_in(0, rest, sizeof(rest));
}
#endif

uint32_t crc_of(const uint8_t *bytes, size_t count)
{
    uint32_t check = 0xffffffffu;
#if HAVE_FOLDING
    if (count >= 64 && __builtin_cpu_supports("pclmul")) {
        size_t even = count & ~(size_t)15;
        check = fold_in(check, bytes, even);
        bytes += even;
        count -= even;
    }
#endif
    return ~take_in(check, bytes, count);
}

const char crc32_doc[] = PyDoc_STR("crc32(data) -> int\n\nAs zlib.crc32.");

PyObject *crc32(PyObject *self, PyObject *source)
{
    Py_buffer data;
    if (PyObject_GetBuffer(source, &data, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    uint32_t check = crc_of(data.buf, (size_t)data.len);
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLong(check);
}

/* The file of a segment: pages of one size from `start` to `end`, each with its checksum. */
typedef struct {
    Py_buffer data, checks, seen;
    Py_ssize_t start, end, size, pages;
} Pages;

static void pages_close(Pages *pages)
{
    PyBuffer_Release(&pages->seen);
    PyBuffer_Release(&pages->checks);
    PyBuffer_Release(&pages->data);
}

static int pages_open(Pages *pages, PyObject *data, PyObject *checks, PyObject *seen)
{
    if (view_of(data, &pages->data, 1, PyBUF_ND) < 0) {
        return -1;
    }
    if (view_of(checks, &pages->checks, 4, PyBUF_ND) < 0) {
        goto release_data;
    }
    if (view_of(seen, &pages->seen, 1, PyBUF_ND | PyBUF_WRITABLE) < 0) {
        goto release_checks;
    }
    pages->pages = pages->seen.len;
    pages->end = pages->data.len - 4 * pages->pages - 4; /* their checksums end the file */
    if (items_of(&pages->checks) != pages->pages || pages->size <= 0 || pages->start < 0 ||
        pages->start > pages->end ||
        pages->pages != (pages->end - pages->start + pages->size - 1) / pages->size) {
        PyErr_SetString(PyExc_ValueError, "the pages do not fit the file");
        pages_close(pages);
        return -1;
    }
    return 0;
release_checks:
    PyBuffer_Release(&pages->checks);
release_data:
    PyBuffer_Release(&pages->data);
    return -1;
}

/* Look at pages that were not looked at yet. Returns the first that is wrong, or -1. */
static Py_ssize_t wrong_among(const Pages *pages, Py_ssize_t first, Py_ssize_t last)
{
    uint8_t *seen = pages->seen.buf;
    for (Py_ssize_t page = first; page <= last; page++) {
        if (seen[page]) {
            continue;
        }
        Py_ssize_t from = pages->start + page * pages->size;
        Py_ssize_t to = from + pages->size < pages->end ? from + pages->size : pages->end;
        uint32_t check;
        memcpy(&check, (const uint8_t *)pages->checks.buf + 4 * page, sizeof(check));
        if (crc_of((const uint8_t *)pages->data.buf + from, (size_t)(to - from)) != check) {
            return page;
        }
        seen[page] = 1;
    }
    return -1;
}

const char find_damaged_page_doc[] = PyDoc_STR(
"find_damaged_page(data, checks, seen, start, size, first, last) -> page\n\n"
"Check the pages first to last of a segment's file that were not seen yet, and note that they\n"
"were. The first that does not match its checksum, or -1.");

PyObject *find_damaged_page(PyObject *self, PyObject *arguments)
{
    PyObject *data, *checks, *seen;
    Pages pages;
    Py_ssize_t first, last;
    if (!PyArg_ParseTuple(arguments, "OOOnnnn", &data, &checks, &seen, &pages.start, &pages.size,
                          &first, &last) ||
        pages_open(&pages, data, checks, seen) < 0) {
        return NULL;
    }
    if (first < 0 || last >= pages.pages) {
        PyErr_SetString(PyExc_ValueError, "no such page");
        pages_close(&pages);
        return NULL;
    }
    Py_ssize_t wrong = wrong_among(&pages, first, last);
    pages_close(&pages);
    return PyLong_FromSsize_t(wrong);
}

/* A section of the file: items of one size from an offset on. */
typedef struct {
    Py_ssize_t offset, size, count;
} Section;

static int sound_span(const Pages *pages, const Section *section, Py_ssize_t first,
                      Py_ssize_t last)
{
    if (first < 0 || first > last || last > section->count) {
        return 0;
    }
    if (first == last) {
        return 1;
    }
    Py_ssize_t base = section->offset - pages->start;
    return wrong_among(pages, (base + first * section->size) / pages->size,
                       (base + last * section->size - 1) / pages->size) < 0;
}

static int section_of(const Pages *pages, Section *section, Py_ssize_t size)
{
    section->size = size;
    if (section->offset < pages->start || section->offset % 4 || section->count < 0 ||
        section->count > (pages->end - section->offset) / size) {
        PyErr_SetString(PyExc_ValueError, "a section lies outside the file");
        return -1;
    }
    return 0;
}

const char check_forward_lists_doc[] = PyDoc_STR(
"check_forward_lists(data, checks, seen, start, size, starts, terms, impacts, read, numbers) -> count\n\n"
"Check the forward lists of documents and note in read that they were: each of starts, terms and\n"
"impacts is (offset, items). How many of the numbers are sound, up to the first that is not.");

PyObject *check_forward_lists(PyObject *self, PyObject *arguments)
{
    PyObject *data, *checks, *seen, *read_in, *numbers, *answer = NULL;
    Pages pages;
    Section starts, terms, impacts;
    Py_buffer read;
    if (!PyArg_ParseTuple(arguments, "OOOnn(nn)(nn)(nn)OO!", &data, &checks, &seen, &pages.start,
                          &pages.size, &starts.offset, &starts.count, &terms.offset, &terms.count,
                          &impacts.offset, &impacts.count, &read_in, &PyList_Type, &numbers) ||
        pages_open(&pages, data, checks, seen) < 0) {
        return NULL;
    }
    if (view_of(read_in, &read, 1, PyBUF_ND | PyBUF_WRITABLE) < 0) {
        goto close;
    }
    if (section_of(&pages, &starts, 4) < 0 || section_of(&pages, &terms, 4) < 0 ||
        section_of(&pages, &impacts, 4) < 0) {
        goto release;
    }
    Py_ssize_t count = PyList_Size(numbers), done = 0;
    for (; done < count; done++) {
        long long number;
        if (whole_at(numbers, done, &number) < 0) {
            goto release;
        }
        if (number < 0 || number >= read.len) {
            PyErr_SetString(PyExc_ValueError, "no such document");
            goto release;
        }
        if (!sound_span(&pages, &starts, (Py_ssize_t)number, (Py_ssize_t)number + 2)) {
            break;
        }
        uint32_t span[2];
        memcpy(span, (const uint8_t *)pages.data.buf + starts.offset + 4 * number, sizeof(span));
        if (!sound_span(&pages, &terms, span[0], span[1]) ||
            !sound_span(&pages, &impacts, span[0], span[1])) {
            break;
        }
        ((uint8_t *)read.buf)[number] = 1;
    }
    answer = PyLong_FromSsize_t(done);
release:
    PyBuffer_Release(&read);
close:
    pages_close(&pages);
    return answer;
}

const char look_up_name_doc[] = PyDoc_STR(
"look_up_name(data, checks, seen, start, size, slots, offsets, names, name) -> number\n\n"
"The number of a name in a hash table over its CRC-32, -1 where it is not there, -2 where\n"
"something is damaged: each of slots, offsets and names is (offset, items).");

PyObject *look_up_name(PyObject *self, PyObject *arguments)
{
    PyObject *data, *checks, *seen, *key, *answer = NULL;
    Pages pages;
    Section slots, offsets, names;
    char *name;
    Py_ssize_t length;
    /* No "y#": built with the headers of 3.13, it does not run on 3.11 and 3.12. */
    if (!PyArg_ParseTuple(arguments, "OOOnn(nn)(nn)(nn)O", &data, &checks, &seen, &pages.start,
                          &pages.size, &slots.offset, &slots.count, &offsets.offset,
                          &offsets.count, &names.offset, &names.count, &key) ||
        PyBytes_AsStringAndSize(key, &name, &length) < 0 ||
        pages_open(&pages, data, checks, seen) < 0) {
        return NULL;
    }
    if (section_of(&pages, &slots, 4) < 0 || section_of(&pages, &offsets, 4) < 0 ||
        section_of(&pages, &names, 1) < 0) {
        goto close;
    }
    const uint8_t *bytes = pages.data.buf;
    Py_ssize_t number_found = slots.count && !(slots.count & (slots.count - 1)) ? -1 : -2;
    Py_ssize_t place = (Py_ssize_t)crc_of((const uint8_t *)name, (size_t)length);
    for (Py_ssize_t tried = 0; number_found == -1 && tried < slots.count; tried++, place++) {
        uint32_t number, span[2];
        place &= slots.count - 1;
        if (!sound_span(&pages, &slots, place, place + 1)) {
            number_found = -2;
            break;
        }
        memcpy(&number, bytes + slots.offset + 4 * place, sizeof(number));
        if (number == 0) {
            break;
        }
        if (!sound_span(&pages, &offsets, (Py_ssize_t)number - 1, (Py_ssize_t)number + 1)) {
            number_found = -2;
            break;
        }
        memcpy(span, bytes + offsets.offset + 4 * ((Py_ssize_t)number - 1), sizeof(span));
        if ((Py_ssize_t)span[1] - (Py_ssize_t)span[0] != length) {
            continue;
        }
        if (!sound_span(&pages, &names, span[0], span[1])) {
            number_found = -2;
        } else if (memcmp(bytes + names.offset + span[0], name, (size_t)length) == 0) {
            number_found = (Py_ssize_t)number - 1;
        }
    }
    answer = PyLong_FromSsize_t(number_found);
close:
    pages_close(&pages);
    return answer;
}

const char largest_u16_doc[] = PyDoc_STR(
"largest_u16(documents) -> int\n\nThe highest of 16-bit numbers, -1 for none.");

PyObject *largest_u16(PyObject *self, PyObject *source)
{
    Py_buffer view;
    if (view_of(source, &view, 2, PyBUF_ND) < 0) {
        return NULL;
    }
    const uint16_t *documents = view.buf;
    uint16_t most = 0;
    for (Py_ssize_t place = 0; place < items_of(&view); place++) {
        most = documents[place] > most ? documents[place] : most;
    }
    long largest = view.len ? (long)most : -1;
    PyBuffer_Release(&view);
    return PyLong_FromLong(largest);
}
