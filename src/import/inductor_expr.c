/* SPDX-License-Identifier: Apache-2.0 */
/* Size expressions in sympy's text form, such as `s0*(s1//8) + Max(1, u0)`.
 *
 * Recursive descent over exact rationals in 64 bits: sympy writes `(s0/2)` for a
 * half that the rest of the expression makes whole again. Every overflow is
 * found; depth is limited. Symbols take their values from the caller's
 * bindings. */
#include "import/inductor.h"

#include <string.h>

enum { MAX_ARGS = 16 };

typedef struct ratio { /* d > 0, lowest terms */
	int64_t n, d;
} ratio;

typedef struct expr {
	const hbm_import_opts *opts;
	const hbm_ind_text *t;
	size_t p, end;
	uint32_t depth;
	hbm_ind_eval why; /* first fault, OK: none */
	size_t bad, bad_end;
} expr;

static ratio sum(expr *e);

static ratio fault(expr *e, hbm_ind_eval why, size_t from, size_t to)
{
	if (e->why == HBM_IND_OK) {
		e->why = why;
		e->bad = from;
		e->bad_end = to;
	}
	return (ratio){1, 1};
}

static void skip_blanks(expr *e)
{
	while (e->p < e->end && (e->t->s[e->p] == ' ' || e->t->s[e->p] == '\n'))
		e->p++;
}

static bool eat(expr *e, char c)
{
	skip_blanks(e);
	if (e->p >= e->end || e->t->s[e->p] != c)
		return false;
	e->p++;
	return true;
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

static ratio make(expr *e, size_t from, int64_t n, int64_t d)
{
	int64_t g;

	if (!d || n == INT64_MIN || d == INT64_MIN)
		return fault(e, HBM_IND_RANGE, from, e->p);
	g = gcd(n, d);
	if (d < 0)
		g = -g;
	return g ? (ratio){n / g, d / g} : (ratio){0, 1};
}

static ratio add(expr *e, size_t from, ratio a, ratio b, bool minus)
{
	int64_t x, y, d, n;
	bool bad = __builtin_mul_overflow(a.n, b.d, &x);

	bad |= __builtin_mul_overflow(b.n, a.d, &y);
	bad |= __builtin_mul_overflow(a.d, b.d, &d);
	bad |= minus ? __builtin_sub_overflow(x, y, &n)
	             : __builtin_add_overflow(x, y, &n);
	return bad ? fault(e, HBM_IND_RANGE, from, e->p) : make(e, from, n, d);
}

static ratio mul(expr *e, size_t from, ratio a, ratio b)
{
	int64_t g = gcd(a.n, b.d), h = gcd(b.n, a.d), n, d;
	bool bad;

	g += !g;
	h += !h;
	bad = __builtin_mul_overflow(a.n / g, b.n / h, &n);
	bad |= __builtin_mul_overflow(a.d / h, b.d / g, &d);
	return bad ? fault(e, HBM_IND_RANGE, from, e->p) : make(e, from, n, d);
}

static ratio divide(expr *e, size_t from, ratio a, ratio b)
{
	if (!b.n)
		return fault(e, HBM_IND_RANGE, from, e->p);
	return mul(e, from, a, b.n < 0 ? (ratio){-b.d, -b.n} : (ratio){b.d, b.n});
}

static ratio floor_of(ratio a)
{
	int64_t q = a.n / a.d;

	return (ratio){q - (a.n % a.d < 0), 1};
}

static ratio ceil_of(ratio a)
{
	int64_t q = a.n / a.d;

	return (ratio){q + (a.n % a.d > 0), 1};
}

static ratio modulo(expr *e, size_t from, ratio a, ratio b)
{
	ratio q = floor_of(divide(e, from, a, b));

	return add(e, from, a, mul(e, from, q, b), true);
}

static ratio power(expr *e, size_t from, ratio a, ratio b)
{
	bool small = b.n >= -64 && b.n <= 64;
	ratio r = {1, 1};

	if (b.d != 1 || (!small && (a.d != 1 || b.n < 0 || a.n < 0 || a.n > 1)))
		return fault(e, HBM_IND_RANGE, from, e->p);
	for (int64_t i = 0; i < (b.n < 0 ? -b.n : b.n) && i < 65; i++)
		r = mul(e, from, r, a);
	return b.n < 0 ? divide(e, from, (ratio){1, 1}, r) : r;
}

static ratio least(expr *e, size_t from, ratio a, ratio b, bool greatest)
{
	ratio diff = add(e, from, a, b, true);

	return (diff.n < 0) != greatest ? a : b;
}

static ratio apply(expr *e, size_t from, size_t name_end, const ratio *v, uint32_t n)
{
#define NAMED(word) hbm_ind_is(e->t, from, name_end, word)
	bool greatest = NAMED("Max") || NAMED("max");

	if (greatest || NAMED("Min") || NAMED("min")) {
		ratio r = v[0];
		for (uint32_t i = 1; i < n; i++)
			r = least(e, from, r, v[i], greatest);
		return r;
	}
	if (n == 1 && (NAMED("floor") || NAMED("FloorToInt")))
		return floor_of(v[0]);
	if (n == 1 && (NAMED("ceiling") || NAMED("ceil") || NAMED("CeilToInt")))
		return ceil_of(v[0]);
	if (n == 1 && (NAMED("Identity") || NAMED("ToFloat") || NAMED("Integer")))
		return v[0];
	if (n == 1 && (NAMED("TruncToInt") || NAMED("trunc") || NAMED("int")))
		return v[0].n < 0 ? ceil_of(v[0]) : floor_of(v[0]);
	if (n == 2 && NAMED("FloorDiv"))
		return floor_of(divide(e, from, v[0], v[1]));
	if (n == 2 && (NAMED("CeilDiv") || NAMED("CeilToIntDiv")))
		return ceil_of(divide(e, from, v[0], v[1]));
	if (n == 2 && (NAMED("CleanDiv") || NAMED("IntTrueDiv")))
		return divide(e, from, v[0], v[1]);
	if (n == 2 && (NAMED("Mod") || NAMED("PythonMod")))
		return modulo(e, from, v[0], v[1]);
	if (n == 2 && NAMED("PowByNatural"))
		return power(e, from, v[0], v[1]);
	if (n == 3 && NAMED("ModularIndexing"))
		return modulo(e, from, floor_of(divide(e, from, v[0], v[1])), v[2]);
#undef NAMED
	return fault(e, HBM_IND_BAD, from, name_end);
}

static ratio call(expr *e, size_t from, size_t name_end)
{
	ratio v[MAX_ARGS];
	uint32_t n = 0;

	do {
		if (n == MAX_ARGS)
			return fault(e, HBM_IND_BAD, from, name_end);
		v[n++] = sum(e);
	} while (e->why != HBM_IND_BAD && eat(e, ','));
	if (!eat(e, ')'))
		return fault(e, HBM_IND_BAD, e->p, e->p);
	return apply(e, from, name_end, v, n);
}

static ratio symbol(expr *e, size_t from, size_t end)
{
	uint64_t v;

	if (!hbm_bound(e->opts, e->t->s + from, end - from, &v))
		return fault(e, HBM_IND_UNBOUND, from, end);
	if (v > HBM_MAX_BYTES)
		return fault(e, HBM_IND_RANGE, from, end);
	return (ratio){(int64_t)v, 1};
}

/* Digits, with a part behind a point that is kept exactly. */
static ratio number(expr *e)
{
	size_t from = e->p;
	int64_t v = 0, scale = 1;
	bool bad = false, point = false;

	for (; e->p < e->end; e->p++) {
		char c = e->t->s[e->p];
		if (c == '.' && !point && e->p > from) {
			point = true;
			continue;
		}
		if (c < '0' || c > '9')
			break;
		bad = bad || __builtin_mul_overflow(v, 10, &v) ||
		      __builtin_add_overflow(v, c - '0', &v) ||
		      (point && __builtin_mul_overflow(scale, 10, &scale));
	}
	if (e->p == from)
		return fault(e, HBM_IND_BAD, e->p, e->p < e->end ? e->p + 1 : e->p);
	return bad ? fault(e, HBM_IND_RANGE, from, e->p) : make(e, from, v, scale);
}

static ratio atom(expr *e)
{
	size_t from, word;
	ratio r;

	skip_blanks(e);
	if (hbm_ind_starts(e->t, e->p, e->end, "math."))
		e->p += strlen("math.");
	from = e->p;
	word = hbm_ind_word(e->t, e->p, e->end);
	if (word > from) {
		e->p = word;
		return eat(e, '(') ? call(e, from, word) : symbol(e, from, word);
	}
	if (!eat(e, '('))
		return number(e);
	r = sum(e);
	return eat(e, ')') ? r : fault(e, HBM_IND_BAD, e->p, e->p);
}

/* ** binds tighter than a sign in front of it, looser than one behind it. */
static ratio factor(expr *e)
{
	size_t from = e->p;
	bool minus = false;
	ratio r;

	if (e->depth >= HBM_MAX_DEPTH)
		return fault(e, HBM_IND_BAD, e->p, e->end);
	e->depth++;
	for (;;) {
		if (eat(e, '-'))
			minus = !minus;
		else if (!eat(e, '+'))
			break;
	}
	r = atom(e);
	skip_blanks(e);
	if (e->p + 1 < e->end && e->t->s[e->p] == '*' && e->t->s[e->p + 1] == '*') {
		e->p += 2;
		r = power(e, from, r, factor(e));
	}
	e->depth--;
	return minus ? (ratio){-r.n, r.d} : r;
}

static ratio product(expr *e)
{
	size_t from = e->p;
	ratio r = factor(e);

	while (e->why != HBM_IND_BAD) {
		if (eat(e, '*')) {
			r = mul(e, from, r, factor(e));
		} else if (eat(e, '/')) {
			bool whole = eat(e, '/');
			r = divide(e, from, r, factor(e));
			r = whole ? floor_of(r) : r;
		} else if (eat(e, '%')) {
			r = modulo(e, from, r, factor(e));
		} else {
			break;
		}
	}
	return r;
}

static ratio sum(expr *e)
{
	size_t from = e->p;
	ratio r = product(e);

	while (e->why != HBM_IND_BAD) {
		if (eat(e, '+'))
			r = add(e, from, r, product(e), false);
		else if (eat(e, '-'))
			r = add(e, from, r, product(e), true);
		else
			break;
	}
	return r;
}

hbm_ind_eval hbm_ind_expr(const hbm_import_opts *opts, const hbm_ind_text *t,
                          size_t start, size_t end, uint64_t *ret, size_t *ret_bad,
                          size_t *ret_bad_end)
{
	expr e = {.opts = opts, .t = t, .p = start, .end = end};
	ratio r = sum(&e);

	skip_blanks(&e);
	if (e.p != end && e.why != HBM_IND_BAD) {
		e.why = HBM_IND_OK;
		fault(&e, HBM_IND_BAD, e.p, end);
	}
	if (e.why == HBM_IND_OK &&
	    (r.d != 1 || r.n < 0 || (uint64_t)r.n > HBM_MAX_BYTES))
		fault(&e, HBM_IND_RANGE, start, end);
	*ret = e.why == HBM_IND_OK ? (uint64_t)r.n : 0;
	*ret_bad = e.bad;
	*ret_bad_end = e.bad_end;
	return e.why;
}
