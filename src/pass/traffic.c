/* SPDX-License-Identifier: Apache-2.0 */
/* traffic: bytes that ops move to and from HBM. Cost: linear in operands. */
#include "pass/traffic.h"

#include "base/ckd.h"

typedef struct meter {
	const hbm_program *p;
	const hbm_analysis *an;
	uint64_t *trips;  /* per node: how often it runs */
	uint64_t *sum;    /* per storage: bytes of the op at hand */
	hbm_storage_id *touched;
	uint32_t n_touched;
} meter;

static bool moves_bytes(hbm_op_kind k)
{
	return k != HBM_OP_NOP && k != HBM_OP_ALLOC;
}

static uint64_t *count_trips(hbm_arena *a, const hbm_program *p)
{
	uint64_t *trips = HBM_ARRAY(a, uint64_t, p->nodes.n);

	for (hbm_node_id n = 0; trips && n < p->nodes.n; n++) {
		const hbm_node *node = &p->nodes.items[n];
		trips[n] = node->parent == HBM_NONE ? 1 : trips[node->parent];
		if (node->kind == HBM_NODE_LOOP && node->trips > 1)
			trips[n] = hbm_mul_sat(trips[n], node->trips);
	}
	return trips;
}

/* Adds up one direction of an op. */
static void count_side(meter *m, hbm_span side, uint64_t trips, uint64_t *ret)
{
	m->n_touched = 0;
	for (uint32_t k = 0; k < side.n; k++) {
		const hbm_operand *o = &m->p->operands.items[side.first + k];
		uint64_t size = m->p->tensors.items[o->tensor].size;
		hbm_storage_id s = m->an->of[o->tensor];
		if (!m->sum[s])
			m->touched[m->n_touched++] = s;
		m->sum[s] = hbm_add_sat(m->sum[s], o->len ? o->len
		                        : size > o->offset ? size - o->offset : 0);
	}
	for (uint32_t k = 0; k < m->n_touched; k++) {
		hbm_storage_id s = m->touched[k];
		uint64_t size = m->an->storages.items[s].size;
		uint64_t bytes = m->sum[s] < size ? m->sum[s] : size;
		ret[s] = hbm_add_sat(ret[s], hbm_mul_sat(bytes, trips));
		m->sum[s] = 0;
	}
}

hbm_status hbm_traffic_of(hbm_arena *a, const hbm_program *p, const hbm_analysis *an,
                          hbm_traffic *ret)
{
	meter m = {.p = p, .an = an};
	uint32_t most = 0;

	for (hbm_op_id o = 0; o < p->ops.n; o++) {
		const hbm_op *op = &p->ops.items[o];
		most = op->reads.n > most ? op->reads.n : most;
		most = op->writes.n > most ? op->writes.n : most;
	}
	HBM_NEED(m.trips = count_trips(a, p));
	HBM_NEED(m.sum = HBM_ZARRAY(a, uint64_t, an->storages.n));
	HBM_NEED(m.touched = HBM_ARRAY(a, hbm_storage_id, most));
	HBM_NEED(ret->reads = HBM_ZARRAY(a, uint64_t, an->storages.n));
	HBM_NEED(ret->writes = HBM_ZARRAY(a, uint64_t, an->storages.n));
	for (hbm_op_id o = 0; o < p->ops.n; o++) {
		const hbm_op *op = &p->ops.items[o];
		if (!moves_bytes(op->kind))
			continue;
		count_side(&m, op->reads, m.trips[op->node], ret->reads);
		count_side(&m, op->writes, m.trips[op->node], ret->writes);
	}
	return HBM_OK;
}

hbm_status hbm_traffic_sum(hbm_arena *scratch, const hbm_program *p,
                           const hbm_analysis *an, hbm_plan *plan)
{
	hbm_traffic t;

	HBM_TRY(hbm_traffic_of(scratch, p, an, &t));
	plan->traffic = 0;
	for (uint32_t i = 0; i < plan->storages.n; i++) {
		const hbm_plan_storage *s = &plan->storages.items[i];
		hbm_storage_id id = an->of[s->root];
		if (s->home.kind == HBM_HOME_LX || s->flags & HBM_T_HOST)
			continue;
		plan->traffic = hbm_add_sat(plan->traffic,
		                            hbm_add_sat(t.reads[id], t.writes[id]));
	}
	return HBM_OK;
}
