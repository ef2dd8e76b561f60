import { setTimeout as pause } from 'node:timers/promises';
import { setDraining } from '../platform/nodes/administration.ts';
import { selectNodes } from '../platform/nodes/store.ts';
import type { NodeRecord } from '../platform/nodes/store.ts';
import type { Storage } from '../platform/storage/db.ts';
import type { Command, Result } from './command.ts';

/** Two beats, and time for a busy machine. */
const LOOK_FOR_MS = 5000;
const LOOK_EVERY_MS = 250;

const nodeList: Command = {
  name: 'nodes',
  summary: 'list the control planes that serve the database, and which of them beat',
  positionals: [],
  options: {},
  async run({ storage }) {
    const { nodes, beating } = await watchBeats(storage);
    const json = nodes.map((node) => ({
      id: node.id,
      name: node.name,
      public_url: node.public_url,
      version: node.version,
      state: node.state,
      beats: beating.has(node.id),
      tunnels: node.tunnels,
      clients: node.clients,
      bus_connected: node.public_url === null ? null : node.on_bus === 1,
      started_at: new Date(node.started_at).toISOString(),
    }));
    if (nodes.length === 0) return { json: { nodes: json }, lines: [nobody(storage)] };
    const rows = nodes.map((node) => [
      node.id,
      beating.has(node.id) ? node.state : 'silent',
      String(node.tunnels),
      node.version,
      node.public_url ?? 'alone',
      node.name,
    ]);
    return { json: { nodes: json }, lines: table(['ID', 'STATE', 'AGENTS', 'VERSION', 'ADDRESS', 'NAME'], rows) };
  },
};

const nodeDrain: Command = {
  name: 'node drain',
  summary: 'have a control plane give its agents and its work to the others',
  positionals: ['ID'],
  options: {},
  run: ({ storage }, input) => change(storage, input.need('ID'), true),
};

const nodeResume: Command = {
  name: 'node resume',
  summary: 'have a control plane take agents and work again',
  positionals: ['ID'],
  options: {},
  run: ({ storage }, input) => change(storage, input.need('ID'), false),
};

export const nodeCommands: readonly Command[] = [nodeList, nodeDrain, nodeResume];

async function change(storage: Storage, id: string, isDraining: boolean): Promise<Result> {
  const { name, state } = await setDraining(storage, id, isDraining);
  const line = isDraining ? `${name} gives its work to the others from its next beat on` : `${name} takes work from its next beat on`;
  return { json: { id, state }, lines: [line] };
}

/** Only that a beat changes means something: the clocks of the machines may differ. */
async function watchBeats(storage: Storage): Promise<{ nodes: NodeRecord[]; beating: ReadonlySet<string> }> {
  const first = new Map((await selectNodes(storage.db)).map((node) => [node.id, node.beat]));
  const until = performance.now() + LOOK_FOR_MS;
  for (;;) {
    const nodes = await selectNodes(storage.db);
    const beating = new Set(nodes.filter(({ id, beat }) => first.get(id) !== beat).map(({ id }) => id));
    if (beating.size === nodes.length || performance.now() >= until) return { nodes, beating };
    await pause(LOOK_EVERY_MS);
  }
}

function nobody({ engine }: Pick<Storage, 'engine'>): string {
  return engine === 'sqlite'
    ? 'SQLite: one control plane serves this database, and has no entry here'
    : 'no control plane serves this database';
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]!.length)));
  return [heads, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}
