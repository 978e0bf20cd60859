/* SPDX-License-Identifier: Apache-2.0
 * options: one table per group; --help and the parser read the same rows. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(cli_args, field)

static bool on_off(const char *v, bool *ret_off)
{
	*ret_off = !strcmp(v, "off");
	return *ret_off || !strcmp(v, "on");
}

static bool set_pool(cli_args *a, const char *v)
{
	return on_off(v, &a->plan.pool_off);
}

static bool set_lx(cli_args *a, const char *v)
{
	return on_off(v, &a->plan.lx_off);
}

static bool set_lifetime(cli_args *a, const char *v)
{
	a->plan.pool_lifetime_program = !strcmp(v, "program");
	return a->plan.pool_lifetime_program || !strcmp(v, "bundle");
}

bool cli_set_capacity(cli_args *a, const char *v)
{
	a->has_capacity = true;
	return cli_parse_bytes(v, &a->capacity);
}

static bool set_target(cli_args *a, const char *v)
{
	if (a->n_targets == MAX_TARGETS)
		return false;
	a->targets[a->n_targets++] = v;
	return true;
}

static bool set_effort(cli_args *a, const char *v)
{
	a->plan.effort = (uint32_t)(v[0] - '0');
	return v[0] >= '0' && v[0] <= '9' && !v[1];
}

/* NAME=N */
static bool set_bind(cli_args *a, const char *v)
{
	const char *eq = strchr(v, '=');
	hbm_bind *b;
	char *name;

	if (!eq || eq == v || a->n_binds == MAX_BINDS)
		return false;
	name = strdup(v);
	if (!name)
		return false;
	name[eq - v] = '\0';
	b = &a->binds[a->n_binds++];
	b->name = name;
	return cli_parse_bytes(eq + 1, &b->value);
}

/* The compiler's option of this name counts in GiB. */
static bool set_split_gib(cli_args *a, const char *v)
{
	uint64_t n;

	if (!cli_parse_bytes(v, &n) || !n || n >= (uint64_t)1 << 30)
		return false;
	a->plan.split_threshold = n << 30;
	return true;
}

static bool set_rotation(cli_args *a, const char *v)
{
	if (strcmp(v, "-1") != 0)
		return cli_parse_bytes(v, &a->plan.rotation_size) && a->plan.rotation_size;
	a->plan.rotation_size = HBM_ROTATION_HIGH_WATER;
	return true;
}

/* A fraction of at most six decimals, kept as millionths. */
bool cli_set_share(cli_args *a, const char *v)
{
	uint64_t whole = 0, part = 0, scale = 1000000;

	if ((*v < '0' || *v > '9') && (*v != '.' || v[1] < '0' || v[1] > '9'))
		return false;
	for (; *v >= '0' && *v <= '9' && whole <= 1; v++)
		whole = whole * 10 + (uint64_t)(*v - '0');
	if (*v == '.')
		for (v++; *v >= '0' && *v <= '9' && scale > 1; v++) {
			scale /= 10;
			part += (uint64_t)(*v - '0') * scale;
		}
	a->plan.lx_share_ppm = whole * 1000000 + part;
	return !*v && a->plan.lx_share_ppm <= 1000000;
}

const cli_option cli_input_options[] = {
	{"--from", "FORMAT", "input format, when the content does not tell", CLI_STRING,
	 AT(from), NULL},
	{"--bind", "NAME=N", "value of a symbolic extent; may be repeated", CLI_CUSTOM, 0,
	 set_bind},
	{"--target", "NAME|FILE", "device: a built-in name or a target file", CLI_CUSTOM, 0,
	 set_target},
	{0},
};

const cli_option cli_packing_options[] = {
	{"--allocator", "NAME", "how to place (default auto; bump is the seed's)",
	 CLI_STRING, AT(plan.allocator), NULL},
	{"--effort", "0..9", "how hard to search (default 5)", CLI_CUSTOM, 0, set_effort},
	{"--threads", "N", "cores to use; never changes the answer", CLI_UINT,
	 AT(plan.threads), NULL},
	{"--deadline", "SECONDS", "stop by the clock; answers may then differ by run",
	 CLI_SECONDS, AT(plan.deadline), NULL},
	{0},
};

const cli_option cli_plan_options[] = {
	{"--hbm-pool-planning", "on|off", "pools of HBM per bundle (default on; also "
	 "HBM_POOL_PLANNING=0)", CLI_CUSTOM, 0, set_pool},
	{"--no-bundle-symbolic-args", NULL, "every op is its own bundle", CLI_FLAG,
	 AT(plan.no_bundle_args), NULL},
	{"--lx-planning", "on|off", "scratchpad (default on; also LX_PLANNING=0)",
	 CLI_CUSTOM, 0, set_lx},
	{"--lx-features", "LIST", "what may live in the scratchpad (default: all)",
	 CLI_STRING, AT(plan.lx_features), NULL},
	{"--lx-solver", "NAME", "scratchpad solver", CLI_STRING, AT(plan.lx_solver), NULL},
	{"--dxp-lx-frac-avail", "0..1", "share of LX that the back end keeps", CLI_CUSTOM, 0,
	 cli_set_share},
	{"--sencores", "N", "cores to divide work over (default: the target's)", CLI_COUNT,
	 AT(plan.cores), NULL},
	{"--pool-cap", "BYTES", "largest pool (default: the target's)", CLI_SIZE,
	 AT(plan.pool_cap), NULL},
	{"--pool-lifetime", "bundle|program", "how long a pool is kept (default bundle)",
	 CLI_CUSTOM, 0, set_lifetime},
	{"--resident", "BYTES", "HBM that other programs hold", CLI_BYTES,
	 AT(plan.resident), NULL},
	{"--no-reuse", NULL, "every storage gets bytes of its own", CLI_FLAG,
	 AT(plan.no_reuse), NULL},
	{"--disable-hbm-usage-check", NULL, "report the budget without gating", CLI_FLAG,
	 AT(plan.budget_off), NULL},
	{"--no-split-dram", NULL, "refuse splits whose parts pass the limit", CLI_FLAG,
	 AT(plan.no_split_dram), NULL},
	{"--split-threshold", "BYTES", "split DRAM tensors above this (default: window)",
	 CLI_SIZE, AT(plan.split_threshold), NULL},
	{"--split-huge-dram-tensor", "GIB", "the same as the compiler has it, in whole GiB",
	 CLI_CUSTOM, 0, set_split_gib},
	{"--split-part", "BYTES", "largest part with --no-split-dram (default: target's)",
	 CLI_SIZE, AT(plan.split_part), NULL},
	{"--dram-block", "BYTES", "largest block of HBM to ask for (default: any)", CLI_SIZE,
	 AT(plan.dram_block), NULL},
	{"--plain-in-shared", NULL, "plain tensors may use bytes of class shared", CLI_FLAG,
	 AT(plan.plain_in_shared), NULL},
	{"--dram-rotation-size", "BYTES|-1", "rotate DRAM in such a window (-1: what is "
	 "needed without)", CLI_CUSTOM, 0, set_rotation},
	{"--disable-dge", NULL, "every transfer needs static descriptors", CLI_FLAG,
	 AT(plan.dge_off), NULL},
	{"--passes", "A,B,...", "passes instead of the target's own", CLI_STRING,
	 AT(plan.passes), NULL},
	{"--stop-after", "PASS", "run no further pass", CLI_STRING, AT(plan.stop_after),
	 NULL},
	{"--print-after", "PASS", "print the program after this pass", CLI_STRING,
	 AT(plan.print_after), NULL},
	{0},
};

const cli_option cli_output_options[] = {
	{"--json", NULL, "machine form", CLI_FLAG, AT(json), NULL},
	{"-o", "FILE", "write there instead of standard output", CLI_STRING, AT(output),
	 NULL},
	{0},
};

const cli_option cli_common_options[] = {
	{"--help", NULL, "this text", CLI_FLAG, AT(help), NULL},
	{0},
};

static void print_option(const cli_option *o)
{
	char left[64];

	snprintf(left, sizeof left, "%s%s%s", o->name, o->arg ? " " : "",
	         o->arg ? o->arg : "");
	printf("  %-30s %s\n", left, o->help);
}

void cli_help(const cli_command *c)
{
	printf("usage: hbmplan %s %s\n%s\n\n", c->name, c->usage, c->summary);
	for (uint32_t g = 0; c->groups[g]; g++)
		for (const cli_option *o = c->groups[g]; o->name; o++)
			print_option(o);
}

static bool parse_digits(const char **p, uint64_t *ret)
{
	bool hex = (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X');
	uint64_t base = hex ? 16 : 10, v = 0;
	const char *s = *p + (hex ? 2 : 0), *first = s;

	for (;; s++) {
		uint64_t d = *s >= '0' && *s <= '9'          ? (uint64_t)(*s - '0')
		             : hex && *s >= 'a' && *s <= 'f' ? (uint64_t)(*s - 'a' + 10)
		             : hex && *s >= 'A' && *s <= 'F' ? (uint64_t)(*s - 'A' + 10)
		                                             : 16;
		if (d >= base)
			break;
		if (v > (UINT64_MAX - d) / base)
			return false;
		v = v * base + d;
	}
	*ret = v;
	*p = s;
	return s > first;
}

bool cli_parse_bytes(const char *text, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t factor;
	} units[] = {
		{"", 1}, {"B", 1}, {"K", 1000}, {"KB", 1000}, {"M", 1000000},
		{"MB", 1000000}, {"G", 1000000000}, {"GB", 1000000000},
		{"Ki", 1024}, {"KiB", 1024}, {"Mi", 1 << 20}, {"MiB", 1 << 20},
		{"Gi", 1 << 30}, {"GiB", 1 << 30},
	};
	uint64_t v;

	if (!parse_digits(&text, &v))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (strcmp(text, units[i].unit))
			continue;
		if (v > UINT64_MAX / units[i].factor)
			return false;
		*ret = v * units[i].factor;
		return true;
	}
	return false;
}

static bool parse_seconds(const char *text, double *ret)
{
	char *end;

	*ret = strtod(text, &end);
	return end != text && !*end && *ret >= 0 && *ret < 1e9;
}

static bool set_value(cli_args *args, const cli_option *o, const char *value)
{
	char *at = (char *)args + o->at;
	uint64_t n;

	switch (o->kind) {
	case CLI_FLAG:
		*(bool *)(void *)at = true;
		return true;
	case CLI_STRING:
		*(const char **)(void *)at = value;
		return true;
	case CLI_UINT:
	case CLI_COUNT:
		if (!cli_parse_bytes(value, &n) || n > UINT32_MAX ||
		    (o->kind == CLI_COUNT && !n))
			return false;
		*(uint32_t *)(void *)at = (uint32_t)n;
		return true;
	case CLI_BYTES:
	case CLI_SIZE:
		if (!cli_parse_bytes(value, &n) || n >> 62 || (o->kind == CLI_SIZE && !n))
			return false;
		*(uint64_t *)(void *)at = n;
		return true;
	case CLI_SECONDS:
		return parse_seconds(value, (double *)(void *)at);
	case CLI_CUSTOM:
		return o->set(args, value);
	}
	return false;
}

/* The compiler writes some of these names with '_'. */
static bool same_name(const char *option, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (option[i] != (i && word[i] == '_' ? '-' : word[i]))
			return false;
	return !option[n];
}

static const cli_option *find_option(const cli_command *c, const char *name, size_t n)
{
	for (uint32_t g = 0; c->groups[g]; g++)
		for (const cli_option *o = c->groups[g]; o->name; o++)
			if (strlen(o->name) == n && same_name(o->name, name, n))
				return o;
	return NULL;
}

/* One option, at argv[*i]; moves *i over its value. */
static bool parse_option(const cli_command *c, int argc, char **argv, int *i,
                         cli_args *args)
{
	const char *word = argv[*i], *eq = strchr(word, '='), *value = NULL;
	size_t n = eq ? (size_t)(eq - word) : strlen(word);
	const cli_option *o = find_option(c, word, n);

	if (!o) {
		cli_error("%s: unknown option '%.*s'; try hbmplan %s --help", c->name, (int)n,
		          word, c->name);
		return false;
	}
	if (o->arg)
		value = eq ? eq + 1 : *i + 1 < argc ? argv[++*i] : NULL;
	if ((o->arg && !value) || (!o->arg && eq)) {
		cli_error("%s: option '%s' %s", c->name, o->name,
		          o->arg ? "needs a value" : "takes no value");
		return false;
	}
	if (set_value(args, o, value))
		return true;
	cli_error("%s: bad value '%s' for %s; expected %s%s", c->name, value, o->name, o->arg,
	          o->kind == CLI_SIZE ? ", 1 to below 2^62" : o->kind == CLI_BYTES ?
	          " below 2^62" : o->kind == CLI_COUNT ? ", at least 1" : "");
	return false;
}

/* Switches of the environment; the library itself reads none. */
static bool switched_off(const char *variable)
{
	static const char *const words[] = {"0", "false", "no", "off"};
	const char *v = getenv(variable);

	for (size_t i = 0; v && i < sizeof words / sizeof *words; i++)
		if (!strcmp(v, words[i]))
			return true;
	return false;
}

static void read_environment(cli_args *args)
{
	args->plan.pool_off = switched_off("HBM_POOL_PLANNING");
	args->plan.lx_off = switched_off("LX_PLANNING");
}

static int check_files(const cli_command *c, const cli_args *args)
{
	if (args->help || (args->n_files >= c->min_files && args->n_files <= c->max_files))
		return EXIT_YES;
	cli_error("%s: %s; usage: hbmplan %s %s", c->name,
	          args->n_files < c->min_files ? "too few arguments" : "too many arguments",
	          c->name, c->usage);
	return EXIT_WRONG;
}

int cli_parse(const cli_command *c, int argc, char **argv, cli_args *ret)
{
	bool options = true;

	hbm_plan_defaults(&ret->plan);
	read_environment(ret);
	for (int i = 0; i < argc; i++) {
		if (options && !strcmp(argv[i], "--")) {
			options = false;
		} else if (options && argv[i][0] == '-' && argv[i][1]) {
			if (!parse_option(c, argc, argv, &i, ret))
				return EXIT_WRONG;
		} else if (ret->n_files == MAX_FILES) {
			cli_error("%s: more than %d files", c->name, MAX_FILES);
			return EXIT_WRONG;
		} else {
			ret->files[ret->n_files++] = argv[i];
		}
	}
	return check_files(c, ret);
}
