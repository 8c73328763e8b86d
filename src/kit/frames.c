#include "kit/frames.h"

#include "base/encoding.h"

enum { SMALLEST = 64 };

enum { TEXT, HEAD, BODY, PAST_TEXT, PAST_BODY }; /* what comes next */

static void begin(gx_frames *frames) {
    frames->state = frames->rule->kind <= GX_FRAMES_NUL ? TEXT : HEAD;
    frames->head_size = 0;
}

void gx_frames_init(gx_frames *frames, gx_heap *heap, const gx_frames_rule *rule) {
    *frames = (gx_frames){ .rule = rule, .heap = heap };
    begin(frames);
}

static void give_back(gx_frames *frames) {
    gx_free(frames->heap, GX_TAG_OTHER, frames->data, frames->capacity);
    frames->data = NULL;
    frames->size = frames->capacity = 0;
    frames->given = false;
}

void gx_frames_fini(gx_frames *frames) {
    give_back(frames);
    begin(frames);
}

static void pass(gale_str *piece, size_t size) {
    piece->data += size;
    piece->size -= size;
}

/* --- What is kept ------------------------------------------------------------------------------------------------- */

/* It grows to what has come, never to what was announced. */
static bool keep(gx_frames *frames, const char *bytes, size_t size) {
    size_t needed = frames->size + size, most = frames->rule->max + GX_FRAMES_DIGITS + 1;
    if (needed > frames->capacity) {
        size_t capacity = frames->capacity ? frames->capacity : SMALLEST;
        while (capacity < needed) capacity *= 2;
        if (capacity > most && needed <= most) capacity = most;
        char *data = gx_alloc(frames->heap, GX_TAG_OTHER, capacity);
        if (!data) return false;
        if (frames->size) memcpy(data, frames->data, frames->size);
        gx_free(frames->heap, GX_TAG_OTHER, frames->data, frames->capacity);
        frames->data = data;
        frames->capacity = capacity;
    }
    if (size) memcpy(frames->data + frames->size, bytes, size);
    frames->size = needed;
    return true;
}

/* Of the first record of lines. */
static int look_at_beginning(gx_frames *frames, gale_str *bytes) {
    frames->begun = true;
    if (frames->rule->kind != GX_FRAMES_LINES && frames->rule->kind != GX_FRAMES_SYSLOG) return 0;
    frames->foreign = gx_encoding_foreign(*bytes);
    *bytes = gx_encoding_text(*bytes);
    return frames->foreign ? GALE_UNSUPPORTED : 0;
}

static int hand_out(gx_frames *frames, gale_str bytes, bool whole, gx_frame *ret_frame) {
    frames->given = true;
    if (GX_UNLIKELY(!frames->begun) && look_at_beginning(frames, &bytes) < 0) return GALE_UNSUPPORTED;
    *ret_frame = (gx_frame){ bytes, whole };
    return 1;
}

/* --- Records with an end ------------------------------------------------------------------------------------------ */

static bool has_returns(const gx_frames *frames) {
    return frames->rule->kind != GX_FRAMES_NUL;
}

static bool ends_with_return(const gx_frames *frames, gale_str text) {
    return has_returns(frames) && text.size && text.data[text.size - 1] == '\r';
}

/* Too long, and perhaps its end has not come. */
static int cut_text(gx_frames *frames, gale_str text, bool ended, gx_frame *ret_frame) {
    frames->too_long++;
    begin(frames);
    if (!ended) frames->state = PAST_TEXT;
    if (!frames->rule->drops) return hand_out(frames, (gale_str){ text.data, frames->rule->max }, false, ret_frame);
    give_back(frames);
    return 0;
}

static int end_text(gx_frames *frames, gale_str text, gx_frame *ret_frame) {
    begin(frames);
    if (text.size || frames->rule->kind != GX_FRAMES_SYSLOG) return hand_out(frames, text, true, ret_frame);
    give_back(frames);
    return 0;
}

/* One more byte than a record may have is looked at: a return that is the first half of its end. */
static int read_text(gx_frames *frames, gale_str *piece, gx_frame *ret_frame) {
    size_t max = frames->rule->max;
    const char *end = memchr(piece->data, has_returns(frames) ? '\n' : 0, piece->size);
    size_t size = end ? (size_t)(end - piece->data) : piece->size;
    size_t most = max + has_returns(frames), room = most > frames->size ? most - frames->size : 0;
    size_t taken = size < room ? size : room;
    gale_str text = { piece->data, taken };
    bool is_long = taken < size;
    if (frames->size || (!end && !is_long)) {
        if (!keep(frames, piece->data, taken)) return GALE_NO_MEMORY;
        text = (gale_str){ frames->data, frames->size };
    }
    pass(piece, size + (end != NULL));
    if (!is_long && ends_with_return(frames, text)) {
        if (!end) return 0;
        text.size--;
    }
    if (is_long || text.size > max) return cut_text(frames, text, end != NULL, ret_frame);
    return end ? end_text(frames, text, ret_frame) : 0;
}

static int pass_text(gx_frames *frames, gale_str *piece) {
    const char *end = memchr(piece->data, has_returns(frames) ? '\n' : 0, piece->size);
    pass(piece, end ? (size_t)(end - piece->data) + 1 : piece->size);
    if (end) begin(frames);
    return 0;
}

/* --- Records with a size ------------------------------------------------------------------------------------------ */

static int read_body(gx_frames *frames, gale_str *piece, gx_frame *ret_frame) {
    size_t here = piece->size < frames->left ? piece->size : (size_t)frames->left;
    size_t room = frames->rule->max - frames->size, taken = here < room ? here : room;
    gale_str bytes = { piece->data, taken };
    bool full = taken == frames->left || taken == room;
    if (frames->size || !full) {
        if (!keep(frames, piece->data, taken)) return GALE_NO_MEMORY;
        bytes = (gale_str){ frames->data, frames->size };
    }
    pass(piece, taken);
    frames->left -= taken;
    if (!full) return 0;
    begin(frames);
    if (frames->left) frames->state = PAST_BODY;
    return hand_out(frames, bytes, !frames->left, ret_frame);
}

static int pass_body(gx_frames *frames, gale_str *piece) {
    size_t here = piece->size < frames->left ? piece->size : (size_t)frames->left;
    pass(piece, here);
    frames->left -= here;
    if (!frames->left) begin(frames);
    return 0;
}

static void begin_body(gx_frames *frames) {
    frames->left = 0;
    for (uint8_t i = 0; i < frames->head_size && frames->head[i] != ' '; i++)
        frames->left = frames->left * 10 + (uint64_t)(frames->head[i] - '0');
    bool is_long = frames->left > frames->rule->max;
    frames->too_long += is_long;
    frames->state = is_long && frames->rule->drops ? PAST_BODY : BODY;
}

/* What looked like a size is how a line begins. */
static int begin_text(gx_frames *frames) {
    if (frames->rule->kind == GX_FRAMES_OCTETS) return begin(frames), GALE_DAMAGED;
    if (frames->head_size && !keep(frames, frames->head, frames->head_size)) return GALE_NO_MEMORY;
    frames->state = TEXT;
    return 0;
}

static bool may_be_digit(const gx_frames *frames, char c) {
    return c >= (frames->head_size ? '0' : '1') && c <= '9' && frames->head_size < GX_FRAMES_DIGITS;
}

/* "LEN SP", and of syslog the "<" behind it, which is looked at only. */
static int read_head(gx_frames *frames, gale_str *piece) {
    while (piece->size) {
        char c = piece->data[0];
        bool spaced = frames->head_size && frames->head[frames->head_size - 1] == ' ';
        bool is_space = c == ' ' && frames->head_size && !spaced;
        if (spaced && c == '<') return begin_body(frames), 0;
        if (!is_space && (spaced || !may_be_digit(frames, c))) return begin_text(frames);
        frames->head[frames->head_size++] = c;
        pass(piece, 1);
        if (is_space && frames->rule->kind == GX_FRAMES_OCTETS) return begin_body(frames), 0;
    }
    return 0;
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

int gx_frames_next(gx_frames *frames, gale_str *piece, gx_frame *ret_frame) {
    int rc = 0;
    if (frames->given) give_back(frames);
    while (rc == 0 && piece->size) switch (frames->state) {
        case TEXT: rc = read_text(frames, piece, ret_frame); break;
        case HEAD: rc = read_head(frames, piece); break;
        case BODY: rc = read_body(frames, piece, ret_frame); break;
        case PAST_TEXT: rc = pass_text(frames, piece); break;
        default: rc = pass_body(frames, piece); break;
        }
    return rc;
}

/* Something of a record has come that was neither handed out nor is passed by. */
static bool is_half(const gx_frames *frames) {
    switch (frames->state) {
    case TEXT: return frames->size && !frames->given;
    case HEAD: return frames->head_size;
    default: return frames->state == BODY;
    }
}

/* It lacks its end alone. What looks like the beginning of a size is a line as well, where there are any. */
static bool is_all(const gx_frames *frames, gx_frames_ending ending) {
    switch (frames->rule->kind) {
    case GX_FRAMES_OCTETS: return false;
    case GX_FRAMES_NUL: return ending == GX_FRAMES_WHOLE;
    default: return ending != GX_FRAMES_BROKEN && frames->state != BODY;
    }
}

bool gx_frames_end(gx_frames *frames, gx_frames_ending ending, gx_frame *ret_frame) {
    gale_str bytes = frames->state == HEAD ? (gale_str){ frames->head, frames->head_size }
                                           : (gale_str){ frames->data, frames->size };
    bool half = is_half(frames), all = is_all(frames, ending);
    if (all && frames->rule->kind != GX_FRAMES_NUL) bytes = gx_encoding_line(bytes);
    bool is_long = bytes.size > frames->rule->max;
    begin(frames);
    if (!half) return frames->begun = false;
    frames->cut_off += !all;
    frames->too_long += all && is_long;
    if (is_long) bytes.size = frames->rule->max;
    bool some = all && !(is_long && frames->rule->drops) && hand_out(frames, bytes, !is_long, ret_frame) > 0;
    frames->begun = false; /* what comes next is another stream */
    if (!some) give_back(frames);
    return some;
}
