/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch Inductor's debug directory (TORCH_COMPILE_DEBUG=1), one of its ir_*.txt
 * files, or a log that holds their text.
 *
 * Which files are read: ir_post_fusion.txt is the program; without it
 * ir_pre_fusion.txt, whose ops are in no bundle yet. ir_pre_fusion.txt is also
 * read when the other one only names the children of fused nodes. Beside them
 * fx_graph_readable.py and output_code.py are used when they are there. */
#include "import/inductor.h"

#include "ir/validate.h"

#include <string.h>
#include <unistd.h>

enum { MAX_SEARCH_DEPTH = 6, MAX_FOUND = 20, MAX_DIRS = 5000 };

static const char post_name[] = "ir_post_fusion.txt";
static const char pre_name[] = "ir_pre_fusion.txt";

/* ---- directories ---------------------------------------------------------- */

typedef struct search {
	hbm_arena *a;
	const char *found[MAX_FOUND];
	uint32_t n, n_dirs;
} search;

static const char *join(hbm_arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir), m = strlen(name);
	char *s = HBM_ARRAY(a, char, n + m + 2);

	if (!s)
		return NULL;
	memcpy(s, dir, n);
	s[n] = '/';
	memcpy(s + n + 1, name, m + 1);
	return s;
}

/* *ret: `dir`/`name` when that is a file we may read, else NULL. */
static hbm_status file_in(hbm_arena *a, const char *dir, const char *name,
                          const char **ret)
{
	const char *path = join(a, dir, name);

	HBM_NEED(path);
	*ret = access(path, R_OK) == 0 && !hbm_path_is_dir(path) ? path : NULL;
	return HBM_OK;
}

static hbm_status is_dump(hbm_arena *a, const char *dir, bool *ret)
{
	const char *post, *pre;

	HBM_TRY(file_in(a, dir, post_name, &post));
	HBM_TRY(file_in(a, dir, pre_name, &pre));
	*ret = post || pre;
	return HBM_OK;
}

/* Dump directories below `dir`, in the order of their names. */
static hbm_status find_dumps(search *s, const char *dir, uint32_t depth)
{
	const char **names;
	uint32_t n;
	bool here;

	HBM_TRY(is_dump(s->a, dir, &here));
	if (here) {
		if (s->n < MAX_FOUND)
			s->found[s->n++] = dir;
		return HBM_OK;
	}
	if (depth == MAX_SEARCH_DEPTH || ++s->n_dirs > MAX_DIRS)
		return HBM_OK;
	HBM_TRY(hbm_dir_list(s->a, NULL, dir, &names, &n));
	for (uint32_t i = 0; i < n && s->n < MAX_FOUND; i++) {
		const char *path = join(s->a, dir, names[i]);
		hbm_status status;
		HBM_NEED(path);
		if (!hbm_path_is_dir(path))
			continue;
		status = find_dumps(s, path, depth + 1);
		if (status == HBM_NOMEM)
			return status;
	}
	return HBM_OK;
}

/* The one dump directory at or below `path`. */
static hbm_status find_dump(hbm_arena *a, hbm_diags *d, const char *path,
                            const char **ret)
{
	search s = {.a = a};
	hbm_where where = {.file = path};
	hbm_status status;

	status = find_dumps(&s, path, 0);
	if (status == HBM_NOMEM)
		return status;
	if (s.n == 1) {
		*ret = s.found[0];
		return HBM_OK;
	}
	if (!s.n)
		return hbm_fail(d, HBM_SEMANTIC, HBM_E_IND_MISSING, where,
		                "no %s in the directory or below it", post_name);
	status = hbm_fail(d, HBM_SEMANTIC, HBM_E_IND_MISSING, where,
	                  "%s%u graphs are below this directory; name one of them",
	                  s.n == MAX_FOUND ? "at least " : "", s.n);
	for (uint32_t i = 0; i < s.n; i++)
		hbm_note(d, HBM_NOWHERE, "%s", s.found[i]);
	return status;
}

/* ---- files ---------------------------------------------------------------- */

static const hbm_ind_text *new_text(hbm_ind_dump *dump, const char *path,
                                    hbm_bytes bytes)
{
	hbm_ind_text *t = HBM_NEW(dump->a, hbm_ind_text);

	if (t)
		hbm_ind_open(t, path, bytes);
	return t;
}

/* A file of a directory; *ret NULL: it is not there. */
static hbm_status open_in(hbm_ind_dump *dump, const char *dir, const char *name,
                          const hbm_ind_text **ret)
{
	const char *path;
	hbm_bytes bytes;

	*ret = NULL;
	if (!dir)
		return HBM_OK;
	HBM_TRY(file_in(dump->a, dir, name, &path));
	if (!path)
		return HBM_OK;
	HBM_TRY(hbm_file_read(dump->a, dump->d, path, 0, &bytes));
	HBM_NEED(*ret = new_text(dump, path, bytes));
	return HBM_OK;
}

typedef struct files {
	const hbm_ind_text *graph, *pre, *fx, *code;
} files;

static bool lists_children(const hbm_ind_graph *g)
{
	for (uint32_t i = 0; i < g->nodes.n; i++)
		if (g->nodes.items[i].snodes.n)
			return true;
	return false;
}

/* fx before code: comments of the code point at nodes of the fx graph. */
static hbm_status read_files(hbm_ind_dump *dump, const files *f)
{
	HBM_TRY(hbm_ind_read_ir(dump, f->graph, &dump->graph));
	if (f->pre && lists_children(&dump->graph))
		HBM_TRY(hbm_ind_read_ir(dump, f->pre, &dump->pre));
	if (f->fx)
		HBM_TRY(hbm_ind_read_fx(dump, f->fx));
	if (f->code)
		HBM_TRY(hbm_ind_read_code(dump, f->code, &dump->code));
	/* A graph without nodes is one that only passes its inputs on. */
	if (!dump->failed && !dump->graph.nodes.n && !dump->code.found && !dump->args.n)
		HBM_IND_FAIL(dump, HBM_E_IND_SYNTAX, ((hbm_ind_at){f->graph, 0, 1}), 1,
		             "the file holds no scheduler node");
	return dump->failed ? HBM_SEMANTIC : HBM_OK;
}

static hbm_status read_dir(hbm_ind_dump *dump, const char *path)
{
	const char *dir = path;
	files f = {0};

	HBM_TRY(find_dump(dump->a, dump->d, path, &dir));
	HBM_TRY(open_in(dump, dir, post_name, &f.graph));
	HBM_TRY(open_in(dump, dir, pre_name, &f.pre));
	HBM_TRY(open_in(dump, dir, "fx_graph_readable.py", &f.fx));
	HBM_TRY(open_in(dump, dir, "output_code.py", &f.code));
	dump->fused = f.graph != NULL;
	if (!f.graph)
		f.graph = f.pre;
	if (!f.graph) /* it was there a moment ago */
		return hbm_fail(dump->d, HBM_IO, HBM_E_IO, (hbm_where){.file = dir},
		                "%s cannot be read", post_name);
	return read_files(dump, &f);
}

static hbm_status read_log(hbm_ind_dump *dump, const hbm_source *src)
{
	hbm_where where = {.file = src->path};
	const char *parts[3];
	const hbm_ind_text *texts[3] = {0};
	hbm_ind_log log;
	files f;

	HBM_TRY(hbm_ind_split_log(dump->a, src->bytes, &log));
	parts[0] = log.post;
	parts[1] = log.pre;
	parts[2] = log.code;
	for (int i = 0; i < 3; i++) {
		hbm_ind_text *t = parts[i] ? HBM_NEW(dump->a, hbm_ind_text) : NULL;
		HBM_NEED(t || !parts[i]);
		if (t)
			*t = (hbm_ind_text){src->path, parts[i], src->bytes.n,
			                    src->bytes.data};
		texts[i] = t;
	}
	if (!texts[0] && !texts[1])
		return hbm_fail(dump->d, HBM_SEMANTIC, HBM_E_IND_MISSING, where,
		                "the log has no section 'AFTER FUSION'; "
		                "TORCH_LOGS=ir_post_fusion writes one");
	if (log.n_graphs > 1)
		HBM_NEED(hbm_warn(dump->d, HBM_E_IND_ASSUMED, where,
		                  "the log holds %u graphs; the first one is read",
		                  log.n_graphs));
	dump->fused = texts[0] != NULL;
	f = (files){texts[0] ? texts[0] : texts[1], texts[1], NULL, texts[2]};
	return read_files(dump, &f);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Other files of the same directory belong to a file only if it has the name that
 * Inductor gave it. */
static hbm_status read_file(hbm_ind_dump *dump, const hbm_source *src)
{
	const char *base = base_name(src->path), *dir = NULL;
	bool pre = strstr(base, "pre_fusion") != NULL;
	files f = {.graph = new_text(dump, src->path, src->bytes)};

	HBM_NEED(f.graph);
	if (!strcmp(base, post_name) || !strcmp(base, pre_name)) {
		size_t n = (size_t)(base - src->path);
		HBM_NEED(dir = n ? hbm_arena_strndup(dump->a, src->path, n - (n > 1))
		                 : ".");
	}
	HBM_TRY(open_in(dump, pre ? NULL : dir, pre_name, &f.pre));
	HBM_TRY(open_in(dump, dir, "fx_graph_readable.py", &f.fx));
	HBM_TRY(open_in(dump, dir, "output_code.py", &f.code));
	dump->fused = !pre;
	return read_files(dump, &f);
}

static bool is_companion(const char *path)
{
	static const char *const names[] = {
		"output_code.py",
		"fx_graph_readable.py",
		"fx_graph_runnable.py",
		"fx_graph_transformed.py",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(base_name(path), names[i]))
			return true;
	return false;
}

hbm_status hbm_ind_read_dump(hbm_arena *scratch, const hbm_source *src,
                             const hbm_import_opts *opts, hbm_diags *d,
                             hbm_ind_dump *ret)
{
	hbm_where where = {.file = src->path};

	*ret = (hbm_ind_dump){.a = scratch, .d = d, .opts = opts};
	HBM_TRY(hbm_syms_init(&ret->syms, scratch));
	if (src->is_dir)
		return read_dir(ret, src->path);
	if (is_companion(src->path))
		return hbm_fail(d, HBM_SEMANTIC, HBM_E_IND_MISSING, where,
		                "this file alone is no program; name its directory");
	if (hbm_ind_is_log(src->bytes))
		return read_log(ret, src);
	return read_file(ret, src);
}

/* ---- the importer --------------------------------------------------------- */

static hbm_status read_into(hbm_arena *scratch, hbm_arena *a, const hbm_source *src,
                            const hbm_import_opts *opts, hbm_diags *d, hbm_program *ret)
{
	hbm_ind_dump *dump = HBM_NEW(scratch, hbm_ind_dump);
	hbm_ind_facts facts;
	hbm_status status;

	HBM_NEED(dump);
	HBM_TRY(hbm_ind_read_dump(scratch, src, opts, d, dump));
	HBM_TRY(hbm_ind_find_facts(dump, &facts));
	if (dump->failed)
		return HBM_SEMANTIC;
	HBM_TRY(hbm_ind_build(dump, &facts, a, ret));
	if (opts->target)
		HBM_NEED((ret->target = hbm_intern_cstr(&ret->syms, opts->target)) !=
		         HBM_NONE);
	HBM_NEED(ret->file = hbm_arena_strndup(a, dump->graph.text->path,
	                                       strlen(dump->graph.text->path)));
	ret->text = dump->graph.text->shown;
	status = hbm_validate(ret, d);
	ret->text = NULL;
	return status;
}

static hbm_status inductor_read(hbm_arena *a, const hbm_source *src,
                                const hbm_import_opts *opts, hbm_diags *d,
                                hbm_imported *ret)
{
	hbm_arena scratch;
	hbm_imported in = {0};
	hbm_status status;

	hbm_arena_init(&scratch, &a->mem);
	status = read_into(&scratch, a, src, opts, d, &in.program);
	hbm_arena_fini(&scratch);
	if (!status)
		*ret = in;
	return status;
}

static int probe_dir(const char *path)
{
	search s;
	hbm_arena a;
	int sure = 0;

	hbm_arena_init(&a, NULL);
	s = (search){.a = &a};
	if (!find_dumps(&s, path, 0) && s.n)
		sure = 95;
	else if (hbm_path_in(&a, path, "output_code.py") ||
	         hbm_path_in(&a, path, "fx_graph_readable.py"))
		sure = 60;
	hbm_arena_fini(&a);
	return sure;
}

static int inductor_probe(const hbm_source *src)
{
	hbm_ind_text t;
	hbm_ind_scan scan = {&t, 0, 1};
	hbm_ind_line line;

	if (src->is_dir)
		return probe_dir(src->path);
	if (is_companion(src->path))
		return 50;
	hbm_ind_open(&t, src->path, src->bytes);
	while (hbm_ind_next_line(&scan, &line)) {
		size_t word = hbm_ind_word(&t, line.start, line.end);
		if (line.start == line.end)
			continue;
		if (word > line.start && hbm_ind_starts(&t, word, line.end, ": ") &&
		    hbm_ind_find(&t, word, line.end, "SchedulerNode(") != SIZE_MAX)
			return 95;
		break;
	}
	return hbm_ind_is_log(src->bytes) ? 55 : 0;
}

const hbm_importer hbm_importer_inductor = {
	"inductor",
	"PyTorch Inductor debug directory, ir_post_fusion.txt, or a log of it",
	inductor_probe,
	inductor_read,
};
