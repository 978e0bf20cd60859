/* SPDX-License-Identifier: Apache-2.0 */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

static hbm_mem memory_of(const hbm_mem *mem)
{
	hbm_arena probe;

	hbm_arena_init(&probe, mem); /* fills in libc's functions */
	return probe.mem;
}

hbm_status hbm_context_new(const hbm_mem *mem, hbm_context **ret)
{
	hbm_mem m = memory_of(mem);
	hbm_context *cx = m.alloc(m.user, sizeof *cx);

	if (!cx)
		return HBM_NOMEM;
	cx->mem = m;
	hbm_arena_init(&cx->results, &m);
	hbm_arena_init(&cx->messages, &m);
	hbm_diags_init(&cx->diags, &cx->messages);
	*ret = cx;
	return HBM_OK;
}

void hbm_context_free(hbm_context *cx)
{
	hbm_mem m;

	if (!cx)
		return;
	m = cx->mem;
	hbm_arena_fini(&cx->results);
	hbm_arena_fini(&cx->messages);
	m.release(m.user, cx, sizeof *cx);
}

void *hbm_handle_new(const hbm_context *cx, size_t size)
{
	void *p = cx->mem.alloc(cx->mem.user, size);

	if (p)
		memset(p, 0, size);
	return p;
}

void hbm_handle_free(const hbm_mem *mem, void *handle, size_t size)
{
	mem->release(mem->user, handle, size);
}

uint32_t hbm_context_n_diagnostics(const hbm_context *cx)
{
	return cx->diags.list.n;
}

hbm_diagnostic hbm_context_diagnostic(const hbm_context *cx, uint32_t i)
{
	const hbm_diag *m = &cx->diags.list.items[i];

	return (hbm_diagnostic){.severity = (hbm_diag_severity)m->severity,
	                        .code = (uint32_t)m->code, .file = m->file,
	                        .line = m->line, .col = m->col, .len = m->len,
	                        .source = m->source, .text = m->text};
}

uint32_t hbm_context_n_dropped(const hbm_context *cx)
{
	return cx->diags.n_dropped;
}

void hbm_context_clear(hbm_context *cx)
{
	hbm_arena_fini(&cx->messages);
	hbm_diags_init(&cx->diags, &cx->messages);
}

static void explain(const hbm_code_info *info, hbm_explanation *ret)
{
	*ret = (hbm_explanation){(uint32_t)info->code, info->title, info->cause,
	                         info->cure};
}

bool hbm_explain(uint32_t code, hbm_explanation *ret)
{
	const hbm_code_info *info = hbm_code_find(code);

	if (info)
		explain(info, ret);
	return info != NULL;
}

bool hbm_explain_nth(uint32_t i, hbm_explanation *ret)
{
	uint32_t n;
	const hbm_code_info *infos = hbm_codes(&n);

	if (i < n)
		explain(&infos[i], ret);
	return i < n;
}

const char *hbm_version(void)
{
	return HBM_VERSION;
}
