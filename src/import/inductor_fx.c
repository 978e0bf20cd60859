/* SPDX-License-Identifier: Apache-2.0 */
/* fx_graph_readable.py: the types of the graph's inputs, in order, and the source
 * line of each node.
 *
 *     def forward(self, arg0_1: "f32[8, 3][3, 1]cuda:0", arg1_1: f32[s0]):
 *          # File: model.py:12 in forward, code: y = self.fc(x)
 *         addmm: "f32[8, 4]" = torch.ops.aten.addmm.default(...)
 */
#include "import/inductor.h"

#include <string.h>

static hbm_status input(hbm_ind_dump *dump, const hbm_ind_text *t,
                        const hbm_ind_arg *arg, uint32_t line)
{
	size_t word = hbm_ind_word(t, arg->start, arg->end), p = word;
	hbm_ind_name *n;
	hbm_sym sym;

	if (word == arg->start || hbm_ind_is(t, arg->start, word, "self"))
		return HBM_OK;
	sym = hbm_ind_sym(dump, t, arg->start, word);
	HBM_NEED(sym != HBM_NONE && HBM_PUSH(dump->a, &dump->args, sym));
	HBM_NEED(n = hbm_ind_name_of(dump, sym));
	n->arg = true;
	while (p < arg->end && (t->s[p] == ':' || t->s[p] == ' ' || t->s[p] == '"'))
		p++;
	/* Sym(s0) is a number, an empty annotation no tensor that we know. */
	n->sym_arg = hbm_ind_starts(t, p, arg->end, "Sym(");
	if (!n->sym_arg && p < arg->end && p > word)
		n->fx = (hbm_ind_at){t, p, line};
	return HBM_OK;
}

static hbm_status signature(hbm_ind_dump *dump, const hbm_ind_text *t,
                            hbm_ind_scan *scan, const hbm_ind_line *line)
{
	size_t open = hbm_ind_find(t, line->start, line->end, "("), close;
	hbm_ind_arg arg;

	if (!hbm_ind_close(t, open, t->n, &close)) {
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, ((hbm_ind_at){t, open, line->no}),
		             1, "the list of inputs never ends");
		scan->pos = t->n;
		return HBM_OK;
	}
	open++;
	while (hbm_ind_next_arg(t, &open, close, &arg))
		HBM_TRY(input(dump, t, &arg, line->no));
	if (close >= scan->pos)
		hbm_ind_skip_line(scan, close);
	return HBM_OK;
}

/* "# File: path:12 in f, code: ..." -> "path:12" */
static hbm_status file_comment(hbm_ind_dump *dump, const hbm_ind_text *t,
                               const hbm_ind_line *line, hbm_sym *ret)
{
	static const char mark[] = "# File: ";
	size_t p = line->start, end;

	if (!hbm_ind_starts(t, p, line->end, mark))
		return HBM_OK;
	p += sizeof mark - 1;
	end = hbm_ind_find(t, p, line->end, " in ");
	if (end == SIZE_MAX)
		end = hbm_ind_find(t, p, line->end, ", code:");
	if (end == SIZE_MAX)
		end = line->end;
	*ret = hbm_ind_sym(dump, t, p, end);
	HBM_NEED(*ret != HBM_NONE);
	return HBM_OK;
}

hbm_status hbm_ind_read_fx(hbm_ind_dump *dump, const hbm_ind_text *t)
{
	hbm_ind_scan scan = {t, 0, 1};
	hbm_ind_line line;
	hbm_sym origin = 0;
	bool found = false;

	while (!hbm_ind_full(dump) && hbm_ind_next_line(&scan, &line)) {
		size_t word = hbm_ind_word(t, line.start, line.end);
		if (!found && hbm_ind_starts(t, line.start, line.end, "def forward(")) {
			HBM_TRY(signature(dump, t, &scan, &line));
			found = true;
		} else if (line.start < line.end && t->s[line.start] == '#') {
			HBM_TRY(file_comment(dump, t, &line, &origin));
		} else if (found && origin && word > line.start && word < line.end &&
		           (t->s[word] == ':' ||
		            hbm_ind_starts(t, word, line.end, " ="))) {
			hbm_sym sym = hbm_ind_sym(dump, t, line.start, word);
			hbm_ind_name *n;
			HBM_NEED(sym != HBM_NONE);
			HBM_NEED(n = hbm_ind_name_of(dump, sym));
			if (!n->origin)
				n->origin = origin;
		}
	}
	return HBM_OK;
}
