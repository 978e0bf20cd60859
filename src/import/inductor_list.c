/* SPDX-License-Identifier: Apache-2.0 */
/* The bracketed values of ir_*.txt: dependencies, users, names. Read by matching
 * brackets, over lines; index expressions are skipped. */
#include "import/inductor_ir.h"

/* The bracketed value at `pos`, maybe over several lines. */
static bool bracketed(hbm_ind_reader *r, size_t pos, size_t *ret_in, size_t *ret_out)
{
	const hbm_ind_text *t = r->t;
	uint32_t line = r->line.no;

	while (pos < t->n &&
	       (t->s[pos] == ' ' || t->s[pos] == '\n' || t->s[pos] == '\r')) {
		line += t->s[pos] == '\n';
		pos++;
	}
	if (pos >= t->n || t->s[pos] != '[' || line > r->line.no + 1) {
		HBM_IND_FAIL(r->dump, HBM_E_IND_SYNTAX, hbm_ind_here(r, r->line.start),
		             r->line.end - r->line.start, "a list is expected here");
		return false;
	}
	if (!hbm_ind_close(t, pos, t->n, ret_out)) {
		HBM_IND_FAIL(r->dump, HBM_E_IND_SYNTAX, ((hbm_ind_at){t, pos, line}), 1,
		             "this list never ends; the file may be truncated");
		r->stop = true;
		return false;
	}
	*ret_in = pos + 1;
	if (*ret_out >= r->scan.pos)
		hbm_ind_skip_line(&r->scan, *ret_out);
	return true;
}

static hbm_status push_name(hbm_ind_reader *r, size_t start, size_t end, hbm_span *span)
{
	hbm_sym sym;

	hbm_ind_unquote(r->t, &start, &end);
	sym = hbm_ind_sym(r->dump, r->t, start, end);
	HBM_NEED(sym != HBM_NONE && HBM_PUSH(r->dump->a, &r->g->lists, sym));
	span->n++;
	return HBM_OK;
}

/* A list of quoted names. */
hbm_status hbm_ind_read_names(hbm_ind_reader *r, size_t pos, hbm_span *ret)
{
	hbm_ind_arg arg;
	size_t in, out;

	*ret = (hbm_span){r->g->lists.n, 0};
	if (!bracketed(r, pos, &in, &out))
		return HBM_OK;
	while (hbm_ind_next_arg(r->t, &in, out, &arg))
		HBM_TRY(push_name(r, arg.start, arg.end, ret));
	return HBM_OK;
}

/* MemoryDep('buf0', ...), StarDep(name='buf0', ...), WeakDep(...): buffer names.
 * A weak dependency only orders and keeps nothing alive. */
hbm_status hbm_ind_read_deps(hbm_ind_reader *r, size_t pos, hbm_span *ret)
{
	hbm_ind_arg dep, name;
	size_t in, out, word, a, b;

	*ret = (hbm_span){r->g->lists.n, 0};
	if (!bracketed(r, pos, &in, &out))
		return HBM_OK;
	while (hbm_ind_next_arg(r->t, &in, out, &dep)) {
		if (!hbm_ind_call(r->t, dep.start, dep.end, &word, &a, &b) ||
		    !hbm_ind_next_arg(r->t, &a, b, &name)) {
			HBM_IND_FAIL(r->dump, HBM_E_IND_SYNTAX,
			             hbm_ind_here(r, r->line.start),
			             r->line.end - r->line.start,
			             "this list holds something that is no dependency");
			return HBM_OK;
		}
		if (!hbm_ind_is(r->t, dep.start, word, "WeakDep"))
			HBM_TRY(push_name(r, name.start, name.end, ret));
	}
	return HBM_OK;
}

/* NodeUser(node=SchedulerNode(name='op2'), can_inplace=True, is_weak=False) */
static hbm_status read_user(hbm_ind_reader *r, size_t start, size_t end, hbm_span *span)
{
	const hbm_ind_text *t = r->t;
	size_t word, in, out, quote, close;
	hbm_ind_user u = {0};
	bool weak = false;
	hbm_ind_arg arg;

	if (!hbm_ind_call(t, start, end, &word, &in, &out))
		return HBM_OK;
	while (hbm_ind_next_arg(t, &in, out, &arg)) {
		bool yes = hbm_ind_is(t, arg.start, arg.end, "True");
		if (hbm_ind_is(t, arg.key, arg.key_end, "can_inplace"))
			u.inplace = yes;
		else if (hbm_ind_is(t, arg.key, arg.key_end, "is_weak"))
			weak = yes;
		if (!hbm_ind_is(t, arg.key, arg.key_end, "node") ||
		    hbm_ind_is(t, arg.start, arg.end, "OUTPUT"))
			continue;
		quote = hbm_ind_find(t, arg.start, arg.end, "'");
		if (quote == SIZE_MAX)
			return HBM_OK;
		close = hbm_ind_find(t, quote + 1, arg.end, "'");
		if (close == SIZE_MAX)
			return HBM_OK;
		u.node = hbm_ind_sym(r->dump, t, quote + 1, close);
		HBM_NEED(u.node != HBM_NONE);
	}
	if (weak)
		return HBM_OK;
	HBM_NEED(HBM_PUSH(r->dump->a, &r->g->users, u));
	span->n++;
	return HBM_OK;
}

hbm_status hbm_ind_read_users(hbm_ind_reader *r, size_t pos, hbm_ind_buf *buf)
{
	hbm_ind_arg arg;
	size_t in, out;

	buf->users = (hbm_span){r->g->users.n, 0};
	if (!bracketed(r, pos, &in, &out))
		return HBM_OK;
	r->g->has_users = true;
	while (hbm_ind_next_arg(r->t, &in, out, &arg))
		HBM_TRY(read_user(r, arg.start, arg.end, &buf->users));
	return HBM_OK;
}
