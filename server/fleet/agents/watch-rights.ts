import type { ExpressionBuilder, SqlBool, Expression } from 'kysely';
import { padded } from '../../platform/storage/padded.ts';
import type { DbOrTx } from '../../platform/storage/db.ts';
import type { Schema } from '../../platform/storage/schema.ts';

/**
 * Of which agents a control plane may write facts where several serve the database: the one that has the agent's tunnel, or anyone while nobody
 * has it. One that does not count any more may write nothing. Each write asks in its own transaction, so that a control plane that believes
 * something else does no harm.
 */
export class WatchRights {
  readonly #nodeId: string;

  constructor(nodeId: string) {
    this.#nodeId = nodeId;
  }

  /** Those of these agents of which facts may be written. */
  async ofAgents(db: DbOrTx, agentIds: readonly string[]): Promise<Set<string>> {
    if (agentIds.length === 0) return new Set();
    const rows = await db
      .selectFrom('agents')
      .select('agents.id')
      .where('agents.id', 'in', padded([...new Set(agentIds)]))
      .where((eb) => this.#isHeldByNobodyElse(eb))
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Those of these routers whose agents are such. */
  async ofRouters(db: DbOrTx, routerIds: readonly string[]): Promise<Set<string>> {
    if (routerIds.length === 0) return new Set();
    const rows = await db
      .selectFrom('routers')
      .innerJoin('agents', 'agents.id', 'routers.agent_id')
      .select('routers.id')
      .where('routers.id', 'in', padded([...new Set(routerIds)]))
      .where((eb) => this.#isHeldByNobodyElse(eb))
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  #isHeldByNobodyElse(eb: ExpressionBuilder<Schema, 'agents'>): Expression<SqlBool> {
    const isNode = (id: Expression<string | null>): Expression<SqlBool> =>
      eb.exists(
        eb
          .selectFrom('nodes')
          .select('nodes.id')
          .where('nodes.id', '=', id as Expression<string>),
      );
    return eb.and([
      isNode(eb.val(this.#nodeId)),
      eb.or([
        eb('agents.node_id', '=', this.#nodeId),
        eb('agents.node_id', 'is', null),
        eb('agents.disconnected_at', 'is not', null),
        eb.not(isNode(eb.ref('agents.node_id'))),
      ]),
    ]);
  }
}
