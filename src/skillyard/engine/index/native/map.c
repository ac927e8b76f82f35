/* A map from bytes to numbers: open addressing over SipHash-1-3. */
#include "map.h"

#define FIRST_SLOTS 1024
#define MAX_ENTRIES 0x7fffffff

static inline uint64_t turned(uint64_t word, int by)
{
    return (word << by) | (word >> (64 - by));
}

typedef struct {
    uint64_t a, b, c, d;
} Sip;

static inline void sip_round(Sip *sip)
{
    sip->a += sip->b;
    sip->c += sip->d;
    sip->b = turned(sip->b, 13) ^ sip->a;
    sip->d = turned(sip->d, 16) ^ sip->c;
    sip->a = turned(sip->a, 32);
    sip->c += sip->b;
    sip->a += sip->d;
    sip->b = turned(sip->b, 17) ^ sip->c;
    sip->d = turned(sip->d, 21) ^ sip->a;
    sip->c = turned(sip->c, 32);
}

/* Aumasson & Bernstein, "SipHash: a fast short-input PRF", 2012, with one and three rounds. */
uint32_t map_hash(const Map *map, const char *key, size_t length)
{
    uint64_t word, last = (uint64_t)length << 56;
    Sip sip = {map->seed[0] ^ 0x736f6d6570736575u, map->seed[1] ^ 0x646f72616e646f6du,
               map->seed[0] ^ 0x6c7967656e657261u, map->seed[1] ^ 0x7465646279746573u};
    for (; length >= 8; key += 8, length -= 8) {
        memcpy(&word, key, 8);
        sip.d ^= word;
        sip_round(&sip);
        sip.a ^= word;
    }
    for (size_t place = 0; place < length; place++) {
        last |= (uint64_t)(unsigned char)key[place] << (8 * place);
    }
    sip.d ^= last;
    sip_round(&sip);
    sip.a ^= last;
    sip.c ^= 0xff;
    sip_round(&sip);
    sip_round(&sip);
    sip_round(&sip);
    return (uint32_t)(sip.a ^ sip.b ^ sip.c ^ sip.d);
}

int grow_now(void **items, size_t *room, size_t count, size_t size)
{
    size_t wider = *room < 256 ? 256 : *room + *room / 2;
    wider = wider < count ? count : wider;
    void *moved = wider > PY_SSIZE_T_MAX / size ? NULL : realloc(*items, wider * size);
    if (moved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *items = moved;
    *room = wider;
    return 0;
}

void map_start(Map *map, const uint64_t seed[2])
{
    memset(map, 0, sizeof *map);
    map->seed[0] = seed[0];
    map->seed[1] = seed[1];
}

void map_free(Map *map)
{
    free(map->slots);
    free(map->entries);
    free(map->bytes);
    map_start(map, map->seed);
}

Py_ssize_t map_find(const Map *map, const char *key, size_t length, uint32_t hash)
{
    if (map->slots == NULL) {
        return -1;
    }
    uint64_t slot;
    for (size_t place = hash & map->mask; (slot = map->slots[place]) != 0;
         place = (place + 1) & map->mask) {
        if (slot >> 32 == hash) {
            Py_ssize_t number = (Py_ssize_t)(uint32_t)slot - 1;
            const Entry *entry = &map->entries[number];
            if (entry->length == length && memcmp(map_key(map, entry), key, length) == 0) {
                return number;
            }
        }
    }
    return -1;
}

static void place_slot(uint64_t *slots, size_t mask, uint64_t slot)
{
    size_t place = (size_t)(slot >> 32) & mask;
    while (slots[place]) {
        place = (place + 1) & mask;
    }
    slots[place] = slot;
}

static int widen(Map *map)
{
    size_t wider = map->slots == NULL ? FIRST_SLOTS : 2 * (map->mask + 1);
    uint64_t *slots = calloc(wider, sizeof(uint64_t));
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t place = 0; map->slots != NULL && place <= map->mask; place++) {
        if (map->slots[place]) {
            place_slot(slots, wider - 1, map->slots[place]);
        }
    }
    free(map->slots);
    map->slots = slots;
    map->mask = wider - 1;
    return 0;
}

Py_ssize_t map_add(Map *map, const char *key, size_t length, uint32_t hash, uint32_t value)
{
    if (map->used >= MAX_ENTRIES || length > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "too many words");
        return -1;
    }
    size_t number = map->used;
    if (grow((void **)&map->entries, &map->room, number + 1, sizeof(Entry)) < 0 ||
        (2 * (number + 1) > map->mask && widen(map) < 0)) {
        return -1;
    }
    Entry *entry = &map->entries[number];
    entry->length = (uint32_t)length;
    entry->value = value;
    if (length <= SHORT_KEY) {
        memcpy(entry->at.key, key, length);
    } else {
        if (grow((void **)&map->bytes, &map->space, map->filled + length, 1) < 0) {
            return -1;
        }
        entry->at.start = map->filled;
        memcpy(map->bytes + map->filled, key, length);
        map->filled += length;
    }
    map->used = number + 1;
    place_slot(map->slots, map->mask, (uint64_t)hash << 32 | (uint64_t)(number + 1));
    return (Py_ssize_t)number;
}
