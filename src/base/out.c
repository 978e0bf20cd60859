/* SPDX-License-Identifier: Apache-2.0 */
#include "base/out.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hbm_out_init(hbm_out *o, hbm_write_fn write, void *user)
{
	o->write = write;
	o->user = user;
	o->failed = false;
	o->n = 0;
}

static void flush(hbm_out *o)
{
	if (o->n && !o->failed)
		o->failed = !o->write(o->user, o->buf, o->n);
	o->n = 0;
}

hbm_status hbm_out_finish(hbm_out *o)
{
	flush(o);
	return o->failed ? HBM_IO : HBM_OK;
}

void hbm_put(hbm_out *o, const char *bytes, size_t n)
{
	if (n > sizeof o->buf - o->n)
		flush(o);
	if (n > sizeof o->buf) {
		if (!o->failed)
			o->failed = !o->write(o->user, bytes, n);
		return;
	}
	memcpy(o->buf + o->n, bytes, n);
	o->n += (uint32_t)n;
}

void hbm_puts(hbm_out *o, const char *s)
{
	hbm_put(o, s, strlen(s));
}

void hbm_putc(hbm_out *o, char c)
{
	hbm_put(o, &c, 1);
}

void hbm_putu(hbm_out *o, uint64_t v)
{
	char digits[20];
	size_t i = sizeof digits;

	do
		digits[--i] = (char)('0' + v % 10);
	while (v /= 10);
	hbm_put(o, digits + i, sizeof digits - i);
}

/* One conversion: flags and width, length, letter. */
typedef struct spec {
	char text[16];
	size_t n;
	uint32_t longs; /* l: 1, ll or j: 2, z: 3 */
	char letter;
} spec;

static const char *read_spec(const char *p, spec *s)
{
	*s = (spec){.text = "%", .n = 1};
	for (; *p && strchr("-0123456789.+ lzj", *p); p++) {
		s->longs += *p == 'l' ? 1 : *p == 'j' ? 2 : *p == 'z' ? 3 : 0;
		if (s->n < sizeof s->text - 2)
			s->text[s->n++] = *p;
	}
	s->letter = *p;
	s->text[s->n++] = *p;
	s->text[s->n] = '\0';
	return *p ? p + 1 : p;
}

static void put_str_spec(hbm_out *o, const spec *s, const char *v)
{
	bool left = s->text[1] == '-';
	size_t width = 0, n = strlen(v);

	for (size_t i = 1 + left; i + 1 < s->n; i++)
		width = width * 10 + (size_t)(s->text[i] - '0');
	if (!left && n < width)
		hbm_pad(o, (uint32_t)(width - n));
	hbm_put(o, v, n);
	if (left && n < width)
		hbm_pad(o, (uint32_t)(width - n));
}

static void put_int_spec(hbm_out *o, const spec *s, va_list *ap)
{
	char text[64];

	if (s->longs == 3)
		snprintf(text, sizeof text, s->text, va_arg(*ap, size_t));
	else if (s->longs == 2)
		snprintf(text, sizeof text, s->text, va_arg(*ap, long long));
	else if (s->longs == 1)
		snprintf(text, sizeof text, s->text, va_arg(*ap, long));
	else
		snprintf(text, sizeof text, s->text, va_arg(*ap, int));
	hbm_puts(o, text);
}

void hbm_putf(hbm_out *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	while (*fmt) {
		size_t n = strcspn(fmt, "%");
		spec s;
		hbm_put(o, fmt, n);
		fmt += n;
		if (!*fmt)
			break;
		fmt = read_spec(fmt + 1, &s);
		if (s.letter == '%')
			hbm_putc(o, '%');
		else if (s.letter == 's')
			put_str_spec(o, &s, va_arg(ap, const char *));
		else
			put_int_spec(o, &s, &ap);
	}
	va_end(ap);
}

void hbm_pad(hbm_out *o, uint32_t n)
{
	while (n--)
		hbm_putc(o, ' ');
}

/* Digits in groups of three. */
static size_t grouped(char *to, uint64_t v)
{
	char raw[24];
	size_t n = (size_t)snprintf(raw, sizeof raw, "%" PRIu64, v), k = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			to[k++] = ',';
		to[k++] = raw[i];
	}
	to[k] = '\0';
	return k;
}

const char *hbm_size_text(char buf[HBM_SIZE_TEXT], uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	uint32_t u = 0, shift = 10;
	uint64_t whole, part;

	if (bytes < 1024) {
		snprintf(buf, HBM_SIZE_TEXT, "%" PRIu64 " B", bytes);
		return buf;
	}
	while (u < 5 && bytes >> shift >= 1024) {
		u++;
		shift += 10;
	}
	whole = bytes >> shift;
	part = bytes & (((uint64_t)1 << shift) - 1);
	part = shift < 60 ? part * 100 >> shift : (part >> 10) * 100 >> (shift - 10);
	snprintf(buf, HBM_SIZE_TEXT, "%" PRIu64 ".%02" PRIu64 " %s", whole, part,
	         units[u]);
	return buf;
}

void hbm_put_bytes(hbm_out *o, uint64_t bytes)
{
	char digits[40], text[HBM_SIZE_TEXT];

	grouped(digits, bytes);
	hbm_putf(o, "%s B", digits);
	if (bytes >= 1024)
		hbm_putf(o, " (%s)", hbm_size_text(text, bytes));
}

bool hbm_membuf_write(void *user, const void *bytes, size_t n)
{
	hbm_membuf *m = user;

	if (!HBM_RESERVE(m->arena, &m->bytes, n + 1)) {
		m->nomem = true;
		return false;
	}
	memcpy(m->bytes.items + m->bytes.n, bytes, n);
	m->bytes.n += (uint32_t)n;
	m->bytes.items[m->bytes.n] = '\0';
	return true;
}

void hbm_json_init(hbm_json *j, hbm_out *out)
{
	memset(j, 0, sizeof *j);
	j->out = out;
}

static void newline(hbm_json *j)
{
	hbm_putc(j->out, '\n');
	hbm_pad(j->out, 2 * j->depth);
}

/* Separator before a value or key. */
static void lead(hbm_json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->depth)
		return;
	if (j->level[j->depth].any)
		hbm_puts(j->out, j->level[j->depth].flat ? ", " : ",");
	if (!j->level[j->depth].flat)
		newline(j);
	j->level[j->depth].any = true;
}

void hbm_json_open(hbm_json *j, char bracket, bool flat)
{
	lead(j);
	hbm_putc(j->out, bracket);
	assert(j->depth + 1 < HBM_JSON_DEPTH);
	flat = flat || (j->depth && j->level[j->depth].flat);
	j->depth++;
	j->level[j->depth].close = bracket == '[' ? ']' : '}';
	j->level[j->depth].flat = flat;
	j->level[j->depth].any = false;
}

void hbm_json_close(hbm_json *j)
{
	bool broken = j->level[j->depth].any && !j->level[j->depth].flat;
	char close = j->level[j->depth].close;

	assert(j->depth);
	j->depth--;
	if (broken)
		newline(j);
	hbm_putc(j->out, close);
	if (!j->depth)
		hbm_putc(j->out, '\n');
}

static void quote(hbm_out *o, const char *s)
{
	hbm_putc(o, '"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			hbm_putf(o, "\\%c", c);
		else if (c == '\n')
			hbm_puts(o, "\\n");
		else if (c < 0x20 || c == 0x7f)
			hbm_putf(o, "\\u%04x", c);
		else
			hbm_putc(o, (char)c);
	}
	hbm_putc(o, '"');
}

void hbm_json_key(hbm_json *j, const char *key)
{
	lead(j);
	quote(j->out, key);
	hbm_puts(j->out, ": ");
	j->after_key = true;
}

/* Readers that keep numbers as doubles are exact below 2^53; what is larger goes
 * out as a decimal string. */
void hbm_json_uint(hbm_json *j, uint64_t v)
{
	bool big = v >= (uint64_t)1 << 53;

	lead(j);
	hbm_puts(j->out, big ? "\"" : "");
	hbm_putu(j->out, v);
	hbm_puts(j->out, big ? "\"" : "");
}

void hbm_json_int(hbm_json *j, int64_t v)
{
	lead(j);
	hbm_putf(j->out, "%" PRId64, v);
}

void hbm_json_bool(hbm_json *j, bool v)
{
	lead(j);
	hbm_puts(j->out, v ? "true" : "false");
}

void hbm_json_null(hbm_json *j)
{
	lead(j);
	hbm_puts(j->out, "null");
}

void hbm_json_str(hbm_json *j, const char *s)
{
	lead(j);
	quote(j->out, s);
}

void hbm_json_kuint(hbm_json *j, const char *key, uint64_t v)
{
	hbm_json_key(j, key);
	hbm_json_uint(j, v);
}

void hbm_json_kbool(hbm_json *j, const char *key, bool v)
{
	hbm_json_key(j, key);
	hbm_json_bool(j, v);
}

void hbm_json_kstr(hbm_json *j, const char *key, const char *s)
{
	hbm_json_key(j, key);
	if (s)
		hbm_json_str(j, s);
	else
		hbm_json_null(j);
}
