import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { copyMigratedPostgres } from './migrated-templates.ts';
import { postgresUrl } from './postgres-server.ts';
import { waitUntil } from './wait-until.ts';

/**
 * Migrated databases of this run's PostgreSQL server that a test has given back. To make one writes 12 MB in 350 files, and a run needs some
 * 3,000 of them; to empty one takes a hundredth of that.
 */

/** What was there before a test came: a database in which it differs is not used again. */
interface Shape {
  /** Of the catalogue (whatever defines or changes something leaves a newer row), the settings of the database, and the migrations. */
  catalogue: string;
  bytes: number;
}

interface Shelved {
  name: string;
  shape: Shape;
}

/** Rows that are deleted leave their room behind, and with more of it plans and times would depend on the tests before. */
const MAX_GROWTH_BYTES = 8_000_000;
/** Connections of a storage that was closed leave in some milliseconds. Whoever stays longer may still write. */
const LEAVE_MS = 1000;

const SHAPE = `
  select concat_ws(' ',
    ${['class', 'attribute', 'attrdef', 'constraint', 'index', 'trigger', 'proc', 'type', 'extension', 'namespace', 'policy', 'rewrite']
      .map((name) => `(select concat(count(*), ':', max(xmin::text::bigint)) from pg_${name})`)
      .join(', ')},
    (select concat(count(*)) from pg_statistic where starelid >= 16384),
    (select concat(xmin) from pg_database where datname = current_database()),
    (select concat(count(*)) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = current_database()),
    (select md5(string_agg(m::text, ',' order by m::text)) from schema_migrations m)
  ) as catalogue, pg_database_size(current_database())::int as bytes`;

const OTHERS = 'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() limit 1';

/** Foreign keys and triggers are off: all rows go, in any order. */
const EMPTY = `
  do $$ declare t text; begin
    set local session_replication_role = replica;
    for t in select quote_ident(relname) from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'
    loop execute 'delete from ' || t; end loop;
    perform setval(seqrelid::regclass, seqstart, false) from pg_sequence;
  end $$`;

/** @param folder shared by the test files of a run, where a file stands for each free database */
export class PostgresShelf {
  readonly #folder: string;
  readonly #socketFolder: string;

  constructor(folder: string, socketFolder: string) {
    this.#folder = path.join(folder, 'free-databases');
    this.#socketFolder = socketFolder;
  }

  /** A migrated, empty database; `remove` gives it back. */
  async take(): Promise<{ url: string; remove: () => Promise<void> }> {
    const taken = (await this.#takeFree()) ?? (await this.#make());
    return { url: this.#url(taken.name), remove: () => this.#giveBack(taken) };
  }

  async #takeFree(): Promise<Shelved | undefined> {
    const free = await readdir(this.#folder).catch(() => []);
    for (const name of free) {
      const file = path.join(this.#folder, name);
      const shape = await readFile(file, 'utf8').catch(() => undefined);
      // Whoever removes the file has the database.
      if (shape !== undefined && (await wasRemoved(file))) return { name, shape: JSON.parse(shape) as Shape };
    }
    return undefined;
  }

  async #make(): Promise<Shelved> {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await copyMigratedPostgres(this.#socketFolder, name);
    return { name, shape: await this.#inside(name, shapeOf) };
  }

  async #giveBack({ name, shape }: Shelved): Promise<void> {
    const isLikeNew = await this.#inside(name, async (client) => {
      if (!(await isAlone(client)) || !isAlike(shape, await shapeOf(client))) return false;
      await client.query(EMPTY);
      return true;
    }).catch(() => false);
    if (!isLikeNew) return;
    await mkdir(this.#folder, { recursive: true });
    const draft = path.join(this.#folder, `../${name}.draft`);
    await writeFile(draft, JSON.stringify(shape));
    // Whole at once for whoever looks.
    await rename(draft, path.join(this.#folder, name));
  }

  async #inside<T>(name: string, ask: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ connectionString: this.#url(name) });
    // A test may have ended the server, or the database.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await ask(client);
    } finally {
      await client.end();
    }
  }

  #url(name: string): string {
    return postgresUrl(this.#socketFolder, name);
  }
}

async function shapeOf(client: Client): Promise<Shape> {
  const { rows } = await client.query<Shape>(SHAPE);
  return rows[0]!;
}

function isAlike(before: Shape, now: Shape): boolean {
  return before.catalogue === now.catalogue && now.bytes - before.bytes < MAX_GROWTH_BYTES;
}

async function isAlone(client: Client): Promise<boolean> {
  const left = async (): Promise<boolean> => (await client.query(OTHERS)).rowCount === 0;
  return waitUntil('others have left', left, LEAVE_MS).catch(() => false);
}

async function wasRemoved(file: string): Promise<boolean> {
  return unlink(file).then(
    () => true,
    () => false,
  );
}
